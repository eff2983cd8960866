"""Cache of keys and values, so that each step of decoding computes one new token only.

Shape legend: R rows (sentences x beams), B sentences, L layers, H heads, S source positions, t tokens so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor


@dataclass
class CrossKV:
    """Keys and values of encoder-decoder attention in one layer, computed once for each source.

    Args:
        keys: (B, H, S, d_k) of the encoder's output; shared by the beams of a sentence.
        values: (B, H, S, d_v).
    """

    keys: Tensor
    values: Tensor


class SelfKV(NamedTuple):
    """Keys and values of self-attention in one layer, rows and heads in one dimension; all are views of the cache.

    Args:
        next_keys: (R * H, 1, d_k), to be filled for the next token.
        next_values: (R * H, 1, d_v).
        keys: (R * H, t + 1, d_k), the next token included.
        values: (R * H, t + 1, d_v), likewise.
    """

    next_keys: Tensor
    next_values: Tensor
    keys: Tensor
    values: Tensor


class KVCache:
    """Keys and values of all decoder layers.

    The keys of all layers are one tensor, and so are the values. Each has a second one of the same size, so that
    beams are reordered with one copy. Works without gradients only.

    Args:
        sources: One for each decoder layer.
        source_mask: (B, 1, 1, S), True where a source position is no padding; kept only while there is padding, since
            attention without a mask is faster.
        keys: (L, R, H, capacity, d_k) of the tokens so far; filled up to `length`.
        values: (L, R, H, capacity, d_v).
    """

    def __init__(self, sources: list[CrossKV], source_mask: Tensor, keys: Tensor, values: Tensor) -> None:
        self.sources = sources
        self.source_lengths: list[int] = source_mask.sum(dim=-1).flatten().tolist()  # without padding; read once
        self.source_mask = self._needed(source_mask)
        self.keys, self.values = keys, values
        self.length = 0
        self._spare_keys, self._spare_values = torch.empty_like(keys), torch.empty_like(values)

    def append(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add (R, H, 1, d_k) and (R, H, 1, d_v) at the current position; returns the live ones, (R, H, t, ...)."""
        self._make_room()
        self.keys[layer, :, :, self.length] = keys[:, :, 0]
        self.values[layer, :, :, self.length] = values[:, :, 0]
        live = self.length + 1
        return self.keys[layer, :, :, :live], self.values[layer, :, :, :live]

    def next_position(self) -> list[SelfKV]:
        """Return the room for the next token and all keys and values up to it, for each layer."""
        self._make_room()
        live = self.length + 1
        keys, values = (_heads_side_by_side(cached, live) for cached in (self.keys, self.values))  # (L, R * H, t, ...)
        next_keys, next_values = keys[:, :, -1:].unbind(), values[:, :, -1:].unbind()
        return list(map(SelfKV, next_keys, next_values, keys.unbind(), values.unbind()))

    def _make_room(self) -> None:
        """Grow the cache if it has no room for one more position."""
        if self.length == self.keys.shape[3]:
            self.keys, self.values = _doubled(self.keys), _doubled(self.values)
            self._spare_keys, self._spare_values = torch.empty_like(self.keys), torch.empty_like(self.values)

    def reorder(self, rows: Tensor) -> None:
        """Let row i continue the past of row rows[i]; rows (R,) stay within their sentences."""
        count = len(rows)
        _copy_rows(self.keys, self._spare_keys, rows, self.length)
        _copy_rows(self.values, self._spare_values, rows, self.length)
        self.keys, self._spare_keys = self._spare_keys[:, :count], self.keys[:, :count]
        self.values, self._spare_values = self._spare_values[:, :count], self.values[:, :count]

    def keep_sentences(self, sentences: Sequence[int]) -> Tensor:
        """Drop all other sources and return these numbers on the device; the caller reorders the rows to match."""
        device = self.keys.device
        rows = torch.tensor(sentences, pin_memory=device.type == "cuda").to(device, non_blocking=True)
        for source in self.sources:
            source.keys, source.values = source.keys[rows], source.values[rows]
        self.source_lengths = [self.source_lengths[sentence] for sentence in sentences]
        if self.source_mask is not None:
            self.source_mask = self._needed(self.source_mask[rows])
        return rows

    def _needed(self, mask: Tensor) -> Tensor | None:
        """Return the mask, or None if it forbids nothing."""
        return mask if any(length < mask.shape[-1] for length in self.source_lengths) else None


def _heads_side_by_side(cached: Tensor, live: int) -> Tensor:
    """(L, R, H, n, x) -> (L, R * H, live, x), a view."""
    return cached[..., :live, :].view(len(cached), -1, live, cached.shape[-1])


def _copy_rows(past: Tensor, to: Tensor, rows: Tensor, length: int) -> None:
    """Copy the live part of the chosen rows: to[:, i] = past[:, rows[i]]."""
    torch.index_select(past[..., :length, :], 1, rows, out=to[:, : len(rows), :, :length])


def _doubled(cached: Tensor) -> Tensor:
    """(L, R, H, n, x) -> (L, R, H, 2n, x), the second half still empty."""
    return torch.cat((cached, torch.empty_like(cached)), dim=3)
