"""What the explorer's buffer holds, read back by an independent decoder."""

from __future__ import annotations

import base64
import json
import struct
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from transformer_core.attention_maps import KINDS, AttentionMaps, Axis
from viz_app.components.explorer import Selection, Step, pack
from viz_app.components.explorer.payload import starting_at
from viz_app.figures.colour import kind_colour, scale
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


def packed(maps: AttentionMaps, **options: Any) -> bytes:
    """`pack` with plain defaults."""
    given: dict[str, Any] = {"texts": {}, "selection": Selection(), "steps": [Step(0.5)] * len(maps.outputs)}
    return pack(maps, **(given | options))


def decode(payload: bytes) -> tuple[dict[str, Any], dict[str, npt.NDArray[np.float64]]]:
    """The header and the maps."""
    (length,) = struct.unpack_from("<I", payload)
    header = json.loads(payload[4 : 4 + length])
    assert (4 + length) % 2 == 0
    weights = np.frombuffer(payload, dtype="<u2", offset=4 + length) / 65535
    maps = {}
    for kind, shape in header["kinds"].items():
        sizes = [shape[name] for name in ("layers", "heads", "queries", "keys")]
        maps[kind] = weights[shape["offset"] : shape["offset"] + int(np.prod(sizes))].reshape(sizes)
    assert sum(part.size for part in maps.values()) == weights.size
    return header, maps


def test_weights_come_back_within_half_a_step() -> None:
    maps = make_maps()
    _, decoded = decode(packed(maps))
    for kind in KINDS:
        assert decoded[kind].shape == maps.weights(kind).shape
        assert np.abs(decoded[kind] - maps.weights(kind)).max() <= 1 / 131070 + 1e-9


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
    assert header["texts"] == table
    assert (header["gloss"], header["follow"], header["finished"]) == ([1, 0], True, True)


def test_colours_are_those_of_the_figures() -> None:
    header, _ = decode(packed(make_maps()))
    for theme in ("light", "dark"):
        table = np.frombuffer(base64.b64decode(header["colours"][theme]["scale"]), np.uint8).reshape(256, 3)
        assert (table == scale(theme)).all()
        assert header["colours"][theme]["kinds"] == {kind: kind_colour(kind, theme) for kind in KINDS}


def test_hostile_tokens_come_back_as_they_are() -> None:
    tokens = (
        SCRIPT,
        "<b>",
        "\U0001f642\u200d",
        "\u05e9\u05dc\u05d5\u05dd",
        "x" * 60,
        "{query}",
        '"\\\n\u2028',
        "\ud800",
    )
    count = len(tokens)
    axis = Axis(tokens, tuple(range(count)), (False,) * count)
    square = np.full((1, 1, count, count), 1 / count, np.float32)
    maps = AttentionMaps(encoder=square, decoder=square, cross=square, source=axis, inputs=axis, outputs=axis)
    header, _ = decode(packed(maps))
    assert tuple(header["axes"]["outputs"]["tokens"]) == tokens


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
    moved = starting_at(payload, Selection(kind="encoder", head=2))
    header, weights = decode(moved)
    original, expected = decode(payload)
    assert header == original | {"selection": Selection(kind="encoder", head=2).to_dict()}
    assert all((weights[kind] == expected[kind]).all() for kind in KINDS)
    assert starting_at(moved, Selection(kind="encoder", head=2)) is moved
    leading = packed(maps, follow=True)
    assert starting_at(leading, Selection(head=1)) is leading


def test_twenty_tokens_stay_small() -> None:
    maps = make_maps(source=20, target=20, layers=6, heads=8)
    steps = [Step(0.5, tuple((f"\u2581piece{i}", 0.1) for i in range(5)))] * 20
    assert len(packed(maps, steps=steps, texts=texts("ko").table("explorer"))) <= 200_000


@pytest.mark.parametrize("bad", [np.nan, -0.1, 1.1, np.inf])
def test_weights_that_are_none_are_refused(bad: float) -> None:
    maps = make_maps()
    maps.cross[0, 0, 0, 0] = bad
    with pytest.raises(ValueError, match="from 0 to 1"):
        packed(maps)


def test_steps_must_fit_the_outputs() -> None:
    with pytest.raises(ValueError, match="3 steps for 4"):
        packed(make_maps(), steps=[Step(0.5)] * 3)


@pytest.mark.parametrize(
    "state",
    [
        None,
        "cross",
        {},
        {"kind": "cross"},
        Selection().to_dict() | {"kind": "other"},
        Selection().to_dict() | {"layer": -1},
        Selection().to_dict() | {"layer": 1.5},
        Selection().to_dict() | {"head": True},
        Selection().to_dict() | {"step": 0},
        Selection().to_dict() | {"step": "3"},
        Selection().to_dict() | {"unit": ["pieces"]},
        Selection().to_dict() | {"surplus": 1},
    ],
)
def test_a_report_that_makes_no_sense_counts_as_none(state: object) -> None:
    default = Selection(layer=2, head=3)
    assert Selection.from_state(state, default=default) is default


def test_an_impossible_selection_says_what_is_allowed() -> None:
    with pytest.raises(ValueError, match="kind is 'both', but must be one of encoder, decoder, cross"):
        Selection(kind="both")  # type: ignore[arg-type]
