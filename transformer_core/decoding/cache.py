"""Keys and values that decoding has computed already, so that each step computes those of one new piece only.

Shape legend: R rows (sentences x beams), B sentences, H heads, S source positions, t pieces so far.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass
class LayerCache:
    """What one decoder layer remembers.

    Args:
        source_keys: (B, H, S, d_k) of the encoder's output; shared by the beams of a sentence.
        source_values: (B, H, S, d_v).
        keys: (R, H, capacity, d_k) of the pieces written so far; filled up to the cache's length.
        values: (R, H, capacity, d_v).
    """

    source_keys: Tensor
    source_values: Tensor
    keys: Tensor
    values: Tensor


class DecoderCache:
    """Keys and values of all decoder layers.

    Args:
        layers: One for each decoder layer.
        source_mask: (B, 1, 1, S), True where a source position is no padding.
    """

    def __init__(self, layers: list[LayerCache], source_mask: Tensor) -> None:
        self.layers = layers
        self.source_mask = source_mask
        self.length = 0

    def append(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add (R, H, 1, d_k) and (R, H, 1, d_v) at the current position; returns the live ones, (R, H, t, ...)."""
        cache = self.layers[layer]
        if self.length == cache.keys.shape[2]:
            cache.keys, cache.values = _doubled(cache.keys), _doubled(cache.values)
        cache.keys[:, :, self.length] = keys[:, :, 0]
        cache.values[:, :, self.length] = values[:, :, 0]
        live = self.length + 1
        return cache.keys[:, :, :live], cache.values[:, :, :live]

    def reorder(self, rows: Tensor) -> None:
        """Let row i go on from what row rows[i] remembers; rows (R,) stay within their sentences."""
        for cache in self.layers:
            cache.keys[: len(rows), :, : self.length] = cache.keys[rows, :, : self.length]
            cache.values[: len(rows), :, : self.length] = cache.values[rows, :, : self.length]
            if len(rows) < cache.keys.shape[0]:
                cache.keys, cache.values = cache.keys[: len(rows)], cache.values[: len(rows)]

    def keep_sentences(self, sentences: Tensor) -> None:
        """Forget the sources of finished sentences; the caller reorders the rows to match."""
        for cache in self.layers:
            cache.source_keys = cache.source_keys[sentences]
            cache.source_values = cache.source_values[sentences]
        self.source_mask = self.source_mask[sentences]


def _doubled(cached: Tensor) -> Tensor:
    """(R, H, n, x) -> (R, H, 2n, x), the second half still empty."""
    return torch.cat((cached, torch.empty_like(cached)), dim=2)
