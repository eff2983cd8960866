"""Cache of keys and values, so that each step of decoding computes one new token only.

Shape legend: R rows (sentences x beams), B sentences, L layers, H heads, S source positions, t tokens so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor


@dataclass(frozen=True)
class CrossKV:
    """Keys and values of encoder-decoder attention in one layer, computed once for each source.

    Args:
        keys: (B, H, S, d_k) of the encoder's output; shared by the beams of a sentence.
        values: (B, H, S, d_v).
    """

    keys: Tensor
    values: Tensor

    @cached_property
    def side_by_side(self) -> tuple[Tensor, Tensor]:
        """(B * H, d_k, S) and (B * H, S, d_v): transposed keys, and values, sentences and heads in one dimension."""
        return self.keys.flatten(0, 1).transpose(1, 2), self.values.flatten(0, 1)


class SelfKV(NamedTuple):
    """Keys and values of self-attention in one layer, rows and heads in one dimension; all are views of the cache.

    Args:
        next: (R * H, 1, d_k + d_v), to be filled with the key and the value of the next token.
        keys: (R * H, d_k, t + 1), transposed, the next token included.
        values: (R * H, t + 1, d_v), likewise.
    """

    next: Tensor
    keys: Tensor
    values: Tensor


class KVCache:
    """Keys and values of all decoder layers.

    All are one tensor, with a second one of the same size, so that beams are reordered with one copy. Works without
    gradients only.

    Args:
        sources: One for each decoder layer.
        source_mask: (B, 1, 1, S), True where a source position is no padding; kept only while there is padding, since
            attention without a mask is faster.
        past: (L, R, H, capacity, d_k + d_v) of the tokens so far, each key beside its value; filled up to `length`.
    """

    def __init__(self, sources: list[CrossKV], source_mask: Tensor, past: Tensor) -> None:
        self.sources = sources
        self.source_lengths: list[int] = source_mask.sum(dim=-1).flatten().tolist()  # without padding; read once
        self.source_mask = self._needed(source_mask)
        self.past = past
        self.length = 0
        self._sizes = [sources[0].keys.shape[-1], sources[0].values.shape[-1]]
        self._spare = torch.empty_like(past)

    def append(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add (R, H, 1, d_k) and (R, H, 1, d_v) at the current position; returns the live ones, (R, H, t, ...)."""
        self._make_room()
        past, live = self.past[layer], self.length + 1
        past[:, :, self.length] = torch.cat((keys, values), dim=-1)[:, :, 0]
        all_keys, all_values = torch.split(past[:, :, :live], self._sizes, dim=-1)
        return all_keys, all_values

    def next_position(self) -> list[SelfKV]:
        """Return the room for the next token and all keys and values up to it, for each layer."""
        self._make_room()
        past, live = self.past, self.length + 1
        past = past[..., :live, :].view(past.shape[0], -1, live, past.shape[-1])  # (L, R * H, t, d_k + d_v)
        keys, values = torch.split(past, self._sizes, dim=-1)
        return list(map(SelfKV, past[:, :, -1:].unbind(), keys.transpose(2, 3).unbind(), values.unbind()))

    def _make_room(self) -> None:
        """Grow the cache if it has no room for one more position."""
        if self.length == self.past.shape[3]:
            self.past = torch.cat((self.past, torch.empty_like(self.past)), dim=3)
            self._spare = torch.empty_like(self.past)

    def reorder(self, rows: Tensor) -> None:
        """Let row i continue the past of row rows[i]; rows (R,) stay within their sentences."""
        count, live = len(rows), self.length
        torch.index_select(self.past[..., :live, :], 1, rows, out=self._spare[:, :count, :, :live])
        self.past, self._spare = self._spare[:, :count], self.past[:, :count]

    def keep_sentences(self, sentences: Sequence[int]) -> Tensor:
        """Drop all other sources and return these numbers on the device; the caller reorders the rows to match."""
        device = self.past.device
        rows = torch.tensor(sentences, pin_memory=device.type == "cuda").to(device, non_blocking=True)
        self.sources = [CrossKV(source.keys[rows], source.values[rows]) for source in self.sources]
        self.source_lengths = [self.source_lengths[sentence] for sentence in sentences]
        if self.source_mask is not None:
            self.source_mask = self._needed(self.source_mask[rows])
        return rows

    def _needed(self, mask: Tensor) -> Tensor | None:
        """Return the mask, or None if it forbids nothing."""
        return mask if any(length < mask.shape[-1] for length in self.source_lengths) else None
