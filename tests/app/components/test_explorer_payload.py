"""What the explorer's buffer holds, read back by an independent decoder."""

from __future__ import annotations

import base64
import dataclasses
import json
import struct
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from transformer_core.attention_maps import KINDS, AttentionMaps, Axis
from viz_app.components.explorer import weights as weights_module
from viz_app.components.explorer.payload import Step, pack, with_selection
from viz_app.components.explorer.selection import Selection
from viz_app.components.explorer.weights import MAX_BYTES, pack_weights, packed_size
from viz_app.figures.colours.palette import kind_color, scale
from viz_app.text import texts

SCRIPT = "</script><img src=x onerror=alert(1)>"


def make_maps(source: int = 5, target: int = 4, layers: int = 2, heads: int = 3) -> AttentionMaps:
    """Random maps whose rows sum to 1; every token is a word of its own."""
    generator = np.random.default_rng(0)

    def rows(queries: int, keys: int, causal: bool = False) -> npt.NDArray[np.float32]:
        weights = generator.random((layers, heads, queries, keys)) ** 3
        if causal:
            weights = np.tril(weights)
        normalised: npt.NDArray[np.float32] = (weights / weights.sum(-1, keepdims=True)).astype(np.float32)
        return normalised

    def axis(prefix: str, count: int) -> Axis:
        return Axis(tuple(f"\u2581{prefix}{i}" for i in range(count)), tuple(range(count)), (False,) * count)

    return AttentionMaps(
        encoder=rows(source, source),
        decoder=rows(target, target, causal=True),
        cross=rows(target, source),
        source=axis("s", source),
        inputs=axis("i", target),
        outputs=axis("o", target),
    )


def uneven_maps() -> AttentionMaps:
    """Another number of layers and heads in each kind, all rows different."""
    wide, deep = make_maps(layers=3, heads=2), make_maps(layers=1, heads=4)
    return dataclasses.replace(make_maps(), encoder=wide.encoder, decoder=deep.decoder)


def packed(maps: AttentionMaps, **options: Any) -> bytes:
    """`pack` with plain defaults."""
    given: dict[str, Any] = {"texts": {}, "selection": Selection(), "steps": [Step(0.5)] * len(maps.outputs)}
    return pack(maps, **(given | options))


def decode(payload: bytes) -> tuple[dict[str, Any], dict[str, npt.NDArray[np.float64]]]:
    """The header and the maps, cell by cell as the module tells the layout."""
    (length,) = struct.unpack_from("<I", payload)
    header = json.loads(payload[4 : 4 + length])
    start = 4 + length
    assert start % 2 == 0
    maps = {}
    read = start  # every byte is read once
    for kind, shape in header["kinds"].items():
        layers, heads, queries, keys = (shape[name] for name in ("layers", "heads", "queries", "keys"))
        decoded = np.zeros((layers * heads * queries, keys))
        at = start + shape["offset"]
        for row in range(len(decoded)):
            count = row % queries + 1 if kind == "decoder" else keys
            if header["bits"] == 16:
                values = np.frombuffer(payload, "<u2", count, at) / 65535
            else:
                (largest,) = struct.unpack_from("<H", payload, start + shape["rows"] + 4 * row)
                values = np.frombuffer(payload, np.uint8, count, at) / 255 * (largest / 65535)
                read += 4
            decoded[row, :count] = values
            at += count * header["bits"] // 8
        read += at - start - shape["offset"]
        maps[kind] = decoded.reshape(layers, heads, queries, keys)
    assert read == len(payload)
    return header, maps


@pytest.mark.parametrize("most_bytes", [MAX_BYTES, 0])
@pytest.mark.parametrize("zero_rows", [False, True])
def test_weights_come_back_within_half_a_step(
    monkeypatch: pytest.MonkeyPatch, most_bytes: int, *, zero_rows: bool
) -> None:
    monkeypatch.setattr(weights_module, "MAX_BYTES", most_bytes)
    maps = uneven_maps()
    if zero_rows:
        maps.encoder[0, 1, 2:4] = maps.cross[:, :, 3] = maps.decoder[0, 3] = 0.0
    header, decoded = decode(packed(maps))
    step = 1 / 65535 if most_bytes else 1 / 255
    assert header["resolution"] == step
    for kind in KINDS:
        assert decoded[kind].shape == maps.weights(kind).shape
        assert np.abs(decoded[kind] - maps.weights(kind)).max() <= step / 2 + 1e-9


def test_of_bytes_faint_rows_keep_their_shape_and_each_row_its_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights_module, "MAX_BYTES", 0)
    maps = make_maps()
    maps.encoder[0, 0, 1] = np.array([4, 3, 2, 1, 0], np.float32) / 1000
    maps.encoder[0, 0, 2] = [0.998, 0.0005, 0.0005, 0.0005, 0.0005]
    payload = packed(maps)
    header, decoded = decode(payload)
    assert np.abs(decoded["encoder"][0, 0, 1] * 1000 - [4, 3, 2, 1, 0]).max() <= 4 / 500
    start = len(payload) - len(pack_weights(maps).data) + header["kinds"]["encoder"]["rows"]
    sums = np.frombuffer(payload, "<u2", 2 * 2 * 3 * 5, start).reshape(2, 3, 5, 2)[..., 1] / 65535
    assert np.abs(sums - np.minimum(maps.encoder.sum(-1), 1)).max() <= 1 / 131070 + 1e-6
    assert decoded["encoder"][0, 0, 2].sum() < 0.9985, "what the sums are for"


def test_weights_that_were_packed_before_make_the_same_payload() -> None:
    maps = make_maps()
    before = pack_weights(maps)
    assert packed(maps, weights=before) == packed(maps)
    assert packed_size(maps) == len(before.data)


def test_axes_steps_and_selection_come_back() -> None:
    maps = make_maps()
    steps = [Step(0.25 * i, (("\u2581ein", 0.1), (SCRIPT, 0.05))) for i in range(4)]
    selection = Selection(kind="decoder", layer=1, head=2, step=3, unit="words", view="layer")
    table = texts("ko").table("explorer")
    header, _ = decode(packed(maps, steps=steps, selection=selection, texts=table, gloss_head=(1, 0), follow=True))
    assert header["axes"]["source"]["tokens"] == list(maps.source.tokens)
    assert header["axes"]["inputs"]["words"] == list(maps.inputs.words)
    assert header["axes"]["outputs"]["special"] == list(maps.outputs.special)
    assert header["steps"][2] == [0.5, [["\u2581ein", 0.1], [SCRIPT, 0.05]]]
    assert Selection.from_state(header["selection"], default=Selection()) == selection
    assert header["opens"] == "layer"
    assert header["texts"] == table
    assert (header["gloss"], header["follow"], header["finished"]) == ([1, 0], True, True)


def test_colors_are_those_of_the_figures() -> None:
    header, _ = decode(packed(make_maps()))
    for theme in ("light", "dark"):
        table = np.frombuffer(base64.b64decode(header["colours"][theme]["scale"]), np.uint8).reshape(256, 3)
        assert (table == scale(theme)).all()
        assert header["colours"][theme]["kinds"] == {kind: kind_color(kind, theme) for kind in KINDS}


def test_the_id_tells_translations_apart_but_not_selections() -> None:
    maps = make_maps()
    same, other = (decode(packed(maps, selection=Selection(head=head)))[0] for head in (0, 2))
    assert same["id"] == other["id"] and same["selection"] != other["selection"]
    assert decode(packed(make_maps(source=6)))[0]["id"] != same["id"]
    assert decode(packed(maps, texts={"play": "Los"}))[0]["id"] != same["id"]


def test_a_selection_outside_the_maps_is_fitted() -> None:
    header, _ = decode(packed(make_maps(), selection=Selection(layer=5, head=7, step=9)))
    assert (header["selection"]["layer"], header["selection"]["head"], header["selection"]["step"]) == (1, 2, None)
    assert header["gloss"] == [1, 2]
    header, _ = decode(packed(make_maps(), selection=Selection(kind="encoder", head=2)))
    assert header["gloss"] == [1, 0]


def test_a_payload_can_start_elsewhere_without_changing_anything_else() -> None:
    maps = make_maps()
    payload = packed(maps)
    moved = with_selection(payload, Selection(kind="encoder", head=2), key="explorer")
    header, weights = decode(moved)
    original, expected = decode(payload)
    assert header == original | {"selection": Selection(kind="encoder", head=2).to_dict(), "key": "explorer"}
    assert all((weights[kind] == expected[kind]).all() for kind in KINDS)
    assert with_selection(moved, Selection(kind="encoder", head=2), key="explorer") is moved
    leading = packed(maps, follow=True)
    assert with_selection(leading, Selection(head=1), key="explorer") is leading


@pytest.mark.parametrize(("tokens", "most"), [(20, 200_000), (50, 1_200_000)])
def test_short_sentences_stay_small(tokens: int, most: int) -> None:
    maps = make_maps(source=tokens, target=tokens, layers=6, heads=8)
    steps = [Step(0.5, tuple((f"\u2581token{i}", 0.1) for i in range(5)))] * tokens
    assert len(packed(maps, steps=steps, texts=texts("ko").table("explorer"))) <= most


def test_of_512_tokens_a_weight_takes_one_byte() -> None:
    maps = make_maps(source=512, target=512, layers=2, heads=2)
    all_heads = dataclasses.replace(
        maps,
        encoder=np.broadcast_to(maps.encoder[:1, :1], (6, 8, 512, 512)),
        decoder=np.broadcast_to(maps.decoder[:1, :1], (6, 8, 512, 512)),
        cross=np.broadcast_to(maps.cross[:1, :1], (6, 8, 512, 512)),
    )
    assert 31_000_000 < packed_size(all_heads) < 32_000_000
    assert packed_size(maps) == 2 * 4 * (2 * 512 * 512 + 512 * 513 // 2)


@pytest.mark.parametrize("bad", [np.nan, -0.1, 1.1, np.inf])
def test_weights_that_are_none_are_refused(bad: float) -> None:
    maps = make_maps()
    maps.cross[0, 0, 0, 0] = bad
    with pytest.raises(ValueError, match="from 0 to 1"):
        packed(maps)


def test_steps_must_fit_the_outputs() -> None:
    with pytest.raises(ValueError, match="3 steps for 4"):
        packed(make_maps(), steps=[Step(0.5)] * 3)


SEEN = Selection(kind="encoder", layer=1, head=1, order="entropy", pin="q3")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kind", "other"),
        ("layer", -1),
        ("layer", 1.5),
        ("head", True),
        ("step", 0),
        ("step", "3"),
        ("unit", ["tokens"]),
        ("order", "<b>"),
        ("threshold", 100),
        ("special", 1),
        ("pin", "q01"),
        ("pin", "q1\n"),
        ("against", "cross.5"),
        ("vs", ""),
        ("vsmodel", "x" * 501),
        ("surplus", 1),
    ],
)
def test_a_report_keeps_its_valid_fields(name: str, value: object) -> None:
    default = Selection(layer=2, head=3, threshold=7)
    expected = dataclasses.replace(SEEN, **({name: getattr(default, name)} if name != "surplus" else {}))
    assert Selection.from_state(SEEN.to_dict() | {name: value}, default=default) == expected


@pytest.mark.parametrize("state", [None, "cross", {}, [1], {"kind": "other"}])
def test_a_report_without_a_valid_field_counts_as_none(state: object) -> None:
    default = Selection(layer=2, head=3)
    assert Selection.from_state(state, default=default) is default


def test_a_missing_field_is_as_in_the_default() -> None:
    assert Selection.from_state({"kind": "encoder"}, default=Selection(layer=2)) == Selection(kind="encoder", layer=2)


def test_measured_alignment_error_rates_come_back_and_must_fit_the_heads() -> None:
    maps = make_maps(layers=2, heads=3)
    rates = [[0.9, 0.8, 0.7], [0.6, 0.5, 0.25]]
    assert decode(packed(maps, alignment={"cross": rates}))[0]["alignment"] == {"cross": rates}
    assert decode(packed(maps))[0]["alignment"] == {}
    with pytest.raises(ValueError, match=r"alignment error rates of cross must be 2 lists of 3"):
        packed(maps, alignment={"cross": rates[:1]})
