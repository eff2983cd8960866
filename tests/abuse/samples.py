"""Undamaged material from which cases are made: documents, a vocabulary, a history and maps."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from transformer_core import AttentionMaps, Axis, Tokenizer
from transformer_core.history.snapshots import History

SMALL = Path(__file__).parents[2] / "checkpoints" / "small"


@cache
def document(name: str) -> Any:
    return json.loads((SMALL / name).read_text(encoding="utf-8"))


@cache
def tokenizer() -> Tokenizer:
    return Tokenizer.load(SMALL / "base" / "tokenizer.model")


@cache
def history() -> History:
    return History.load(SMALL / "history" / "base")


@cache
def maps() -> AttentionMaps:
    """Uniform attention of 2 layers with 2 heads over 3 tokens."""
    axis = Axis(("▁a", "▁b", "</s>"), (0, 1, 2), (False, False, True))
    inputs = Axis(("<s>", "▁a", "▁b"), (0, 1, 2), (True, False, False))
    full = np.full((2, 2, 3, 3), 1 / 3, dtype=np.float32)
    causal = np.tril(np.ones((3, 3), dtype=np.float32))
    decoder = np.broadcast_to(causal / causal.sum(-1, keepdims=True), (2, 2, 3, 3)).copy()
    return AttentionMaps(encoder=full, decoder=decoder, cross=full, source=axis, inputs=inputs, outputs=axis)


def present(params: dict[str, str | None]) -> dict[str, str]:
    """Parameters that an address holds: the ones that are there."""
    return {name: value for name, value in params.items() if value is not None}
