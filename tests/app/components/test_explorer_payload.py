"""The explorer's buffer, read back by an independent decoder."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from tests.browser.explorer_samples import sample
from transformer_core.attention_maps import AttentionMaps
from viz_app.components.buffer import split_buffer
from viz_app.components.explorer.payload import Step, pack, with_selection
from viz_app.components.explorer.selection import Selection
from viz_app.components.explorer.weights import pack_weights, packed_size
from viz_app.components.palette import palettes
from viz_app.text import texts

SCRIPT = "</script><img src=x onerror=alert(1)>"


def make_maps(source: int = 5, target: int = 4, layers: int = 2, heads: int = 3) -> AttentionMaps:
    """Maps with these numbers of tokens, special ones included."""
    words = [f"\u2581s{i}" for i in range(source - 1)], [f"\u2581o{i}" for i in range(target - 1)]
    return sample(*words, layers=layers, heads=heads)


def packed(maps: AttentionMaps, **options: Any) -> bytes:
    """`pack` with plain defaults."""
    given: dict[str, Any] = {"texts": {}, "selection": Selection(), "steps": [Step(0.5)] * len(maps.outputs)}
    return pack(maps, **(given | options))


def header_of(payload: bytes) -> dict[str, Any]:
    return split_buffer(payload)[0]


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
    header = header_of(packed(maps, steps=steps, selection=selection, texts=table, gloss_head=(1, 0), follow=True))
    assert header["axes"]["source"]["tokens"] == list(maps.source.tokens)
    assert header["axes"]["inputs"]["words"] == list(maps.inputs.words)
    assert header["axes"]["outputs"]["special"] == list(maps.outputs.special)
    assert header["steps"][2] == [0.5, [["\u2581ein", 0.1], [SCRIPT, 0.05]]]
    assert Selection.from_state(header["selection"], default=Selection()) == selection
    assert header["opens"] == "layer" and header["colours"] == palettes()
    assert header["texts"] == table
    assert (header["gloss"], header["follow"], header["finished"]) == ([1, 0], True, True)


def test_the_id_tells_translations_apart_but_not_selections() -> None:
    maps = make_maps()
    same, other = (header_of(packed(maps, selection=Selection(head=head))) for head in (0, 2))
    assert same["id"] == other["id"] and same["selection"] != other["selection"]
    assert header_of(packed(make_maps(source=6)))["id"] != same["id"]
    assert header_of(packed(maps, texts={"play": "Los"}))["id"] != same["id"]


def test_a_selection_outside_the_maps_is_fitted() -> None:
    header = header_of(packed(make_maps(), selection=Selection(layer=5, head=7, step=9)))
    assert (header["selection"]["layer"], header["selection"]["head"], header["selection"]["step"]) == (1, 2, None)
    assert header["gloss"] == [1, 2]
    header = header_of(packed(make_maps(), selection=Selection(kind="encoder", head=2)))
    assert header["gloss"] == [1, 0]


def test_a_payload_can_start_elsewhere_without_changing_anything_else() -> None:
    maps = make_maps()
    payload = packed(maps)
    moved = with_selection(payload, Selection(kind="encoder", head=2), key="explorer")
    (header, weights), (original, expected) = split_buffer(moved), split_buffer(payload)
    assert header == original | {"selection": Selection(kind="encoder", head=2).to_dict(), "key": "explorer"}
    assert weights == expected
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
def test_weights_that_are_none_and_steps_that_do_not_fit_are_refused(bad: float) -> None:
    maps = make_maps()
    with pytest.raises(ValueError, match="3 steps for 4"):
        packed(maps, steps=[Step(0.5)] * 3)
    maps.cross[0, 0, 0, 0] = bad
    with pytest.raises(ValueError, match="from 0 to 1"):
        packed(maps)


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
    part = Selection.from_state({"kind": "encoder"}, default=default)
    assert part == dataclasses.replace(default, kind="encoder"), "a missing field is as in the default"


def test_measured_alignment_error_rates_come_back_and_must_fit_the_heads() -> None:
    maps = make_maps(layers=2, heads=3)
    rates = [[0.9, 0.8, 0.7], [0.6, 0.5, 0.25]]
    assert header_of(packed(maps, alignment={"cross": rates}))["alignment"] == {"cross": rates}
    assert header_of(packed(maps))["alignment"] == {}
    with pytest.raises(ValueError, match=r"alignment error rates of cross must be 2 lists of 3"):
        packed(maps, alignment={"cross": rates[:1]})
