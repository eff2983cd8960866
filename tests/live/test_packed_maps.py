"""Weights packed in the browser are the bytes that Python packs."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from transformer_core.attention_maps import KINDS
from viz_app.components.explorer.weights import PackedWeights, pack_weights

Script = Callable[[str], Any]
_SCRIPT = """
import { PackedMaps } from "./components/live/js/packedmaps.js";
const { layers, heads, sources, targets, kinds } = %s;
const packed = new PackedMaps(layers, heads, sources, targets);
for (const [kind, all] of Object.entries(kinds))
  for (const [layer, values] of all.entries()) packed.add(kind, layer, Float32Array.from(values));
const { kinds: shapes, levels } = packed;
console.log(JSON.stringify({ kinds: shapes, data: Buffer.from(levels.buffer).toString("base64") }));
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


@pytest.mark.parametrize(("sources", "targets"), [(7, 4), (2, 9), (2, 1), (40, 33)])
def test_the_bytes_are_those_of_python(sources: int, targets: int, javascript: Script) -> None:
    maps = drawn(sources, targets)
    wanted: PackedWeights = pack_weights(SimpleNamespace(kinds=KINDS, weights=maps.__getitem__))  # type: ignore[arg-type]
    kinds = {kind: [layer.ravel().tolist() for layer in maps[kind]] for kind in KINDS}
    sizes = {"layers": 2, "heads": 3, "sources": sources, "targets": targets}
    result = javascript(_SCRIPT % json.dumps({**sizes, "kinds": kinds}))
    assert (16, result["kinds"]) == (wanted.bits, wanted.kinds)
    packed = np.frombuffer(base64.b64decode(result["data"]), np.uint8)
    assert packed.tolist() == wanted.data.tolist()
