"""Weights packed in the browser are the bytes that Python packs, in both forms."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from transformer_core.attention_maps import KINDS
from viz_app.components.explorer import weights
from viz_app.components.explorer.weights import MAX_BYTES, PackedWeights, pack_weights

Script = Callable[[str], Any]
_SCRIPT = """
import { PackedMaps } from "./components/live/js/packedmaps.js";
const { layers, heads, sources, targets, most, kinds } = %s;
const packed = new PackedMaps(layers, heads, sources, targets, most);
for (const [kind, all] of Object.entries(kinds))
  for (const [layer, values] of all.entries()) packed.add(kind, layer, Float32Array.from(values));
const { bits, resolution, kinds: shapes, data } = packed;
console.log(JSON.stringify({ bits, resolution, kinds: shapes, data: Buffer.from(data).toString("base64") }));
"""


def shapes(sources: int, targets: int) -> dict[str, tuple[int, int]]:
    return {"encoder": (sources, sources), "decoder": (targets, targets), "cross": (targets, sources)}


def drawn(sources: int, targets: int, layers: int = 2, heads: int = 3) -> dict[str, Any]:
    """Rows that sum to 1, of all shapes: even, sharp, with a single 1, and a little above 1."""
    draw = np.random.default_rng(4)
    maps = {}
    for kind, (queries, keys) in shapes(sources, targets).items():
        scores = draw.normal(size=(layers, heads, queries, keys)) * draw.choice(
            [0.0, 1.0, 9.0, 200.0], (layers, heads, queries, 1)
        )
        if kind == "decoder":
            scores = np.where(np.tri(queries, keys, dtype=bool), scores, -np.inf)
        values = np.exp(scores - scores.max(-1, keepdims=True))
        maps[kind] = (values / values.sum(-1, keepdims=True)).astype(np.float32)
    maps["cross"][0, 0, 0] = 0.0
    maps["cross"][0, 0, 0, 1] = 1.0 + 5e-7
    return maps


@pytest.mark.parametrize("most", [MAX_BYTES, 0], ids=["16 bits", "8 bits"])
@pytest.mark.parametrize(("sources", "targets"), [(7, 4), (2, 9), (2, 1), (40, 33)])
def test_the_bytes_are_those_of_python(
    sources: int, targets: int, most: int, javascript: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    maps = drawn(sources, targets)
    monkeypatch.setattr(weights, "MAX_BYTES", most)
    wanted: PackedWeights = pack_weights(SimpleNamespace(kinds=KINDS, weights=maps.__getitem__))  # type: ignore[arg-type]
    kinds = {kind: [layer.ravel().tolist() for layer in maps[kind]] for kind in KINDS}
    sizes = {"layers": 2, "heads": 3, "sources": sources, "targets": targets, "most": most}
    found = javascript(_SCRIPT % json.dumps({**sizes, "kinds": kinds}))
    assert (found["bits"], found["kinds"]) == (wanted.bits, wanted.kinds)
    assert found["resolution"] == pytest.approx(wanted.resolution)
    packed = np.frombuffer(base64.b64decode(found["data"]), np.uint8)
    assert packed.tolist() == wanted.data.tolist()


def test_long_sentences_travel_as_bytes_from_the_same_length_on(javascript: Script) -> None:
    def python(length: int) -> tuple[int, int]:
        arrays = {
            kind: np.broadcast_to(np.float32(0), (6, 8, *shape)) for kind, shape in shapes(length, length).items()
        }
        bits, _, size = weights._layout(SimpleNamespace(kinds=KINDS, weights=arrays.__getitem__))  # type: ignore[arg-type]
        return bits, size

    lengths = range(258, 268)
    found = javascript(
        'import { PackedMaps } from "./components/live/js/packedmaps.js";\n'
        f"const made = {list(lengths)}.map((length) => new PackedMaps(6, 8, length, length));\n"
        "console.log(JSON.stringify(made.map(({ bits, data }) => [bits, data.length])));"
    )
    assert [tuple(each) for each in found] == [python(length) for length in lengths]
    assert {bits for bits, _ in found} == {8, 16}
