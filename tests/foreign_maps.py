"""Attention as other programs compute it, with random weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from transformer_core.attention_maps import AttentionMaps

SOURCE = ["[CLS]", "The", "old", "dog", "##s", "sleep", ".", "[SEP]"]
TARGET = ["<pad>", "\u2581Die", "\u2581alten", "\u2581Hunde", "</s>"]
RAGGED = [3, 1, 0, 2]  # heads of its layers


def attention(heads: int, queries: int, keys: int, seed: int = 0, causal: bool = False) -> np.ndarray:
    """(heads, queries, keys) rows that sum to 1."""
    weights = np.exp(np.random.default_rng(seed).normal(0, 2, (heads, queries, keys))).astype(np.float32)
    weights = np.tril(weights) if causal else weights
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True), dtype=np.float32)


def encoder_only(tokens: Sequence[str] = SOURCE, heads: Sequence[int] = RAGGED, seed: int = 0) -> AttentionMaps:
    count = len(tokens)
    layers = [attention(n, count, count, seed + layer) if n else None for layer, n in enumerate(heads)]
    return AttentionMaps.from_arrays(encoder=layers, source_tokens=tokens)


def decoder_only(
    tokens: Sequence[str] = SOURCE, layers: int = 2, heads: int = 3, produced: Sequence[str] = ()
) -> AttentionMaps:
    count = len(tokens)
    weights = [attention(heads, count, count, layer, causal=True) for layer in range(layers)]
    return AttentionMaps.from_arrays(decoder=weights, target_tokens=[*tokens, *produced])


def encoder_decoder() -> AttentionMaps:
    s, t = len(SOURCE), len(TARGET)
    return AttentionMaps.from_arrays(
        encoder=[attention(4, s, s)],
        decoder=[attention(3, t, t, layer, causal=True) for layer in range(2)],
        cross=[attention(3, t, s, layer + 5) for layer in range(2)],
        source_tokens=SOURCE,
        target_tokens=TARGET,
    )
