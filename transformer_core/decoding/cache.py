"""Keys and values that decoding has computed already, so that each step computes those of one new piece only.

Shape legend: R rows (sentences x beams), B sentences, L layers, H heads, S source positions, t pieces so far.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass
class SourceCache:
    """What one decoder layer remembers of the sources.

    Args:
        keys: (B, H, S, d_k) of the encoder's output; shared by the beams of a sentence.
        values: (B, H, S, d_v).
    """

    keys: Tensor
    values: Tensor


class DecoderCache:
    """Keys and values of all decoder layers.

    The keys of all layers lie in one tensor, and so do the values. Each has a second one of the same size, so that
    beams change places with one copy. Works without gradients only.

    Args:
        sources: One for each decoder layer.
        source_mask: (B, 1, 1, S), True where a source position is no padding; kept only while there is padding, since
            attention without a mask is quicker.
        keys: (L, R, H, capacity, d_k) of the pieces written so far; filled up to `length`.
        values: (L, R, H, capacity, d_v).
        output_weight: (V, d) of the output projection, laid out as is quickest for few rows; None takes the model's.
    """

    def __init__(
        self,
        sources: list[SourceCache],
        source_mask: Tensor,
        keys: Tensor,
        values: Tensor,
        output_weight: Tensor | None = None,
    ) -> None:
        self.sources = sources
        self.source_mask = _needed(source_mask)
        self.keys, self.values = keys, values
        self.output_weight = output_weight
        self.length = 0
        self._spare_keys, self._spare_values = torch.empty_like(keys), torch.empty_like(values)

    def append(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add (R, H, 1, d_k) and (R, H, 1, d_v) at the current position; returns the live ones, (R, H, t, ...)."""
        if self.length == self.keys.shape[3]:
            self.keys, self.values = _doubled(self.keys), _doubled(self.values)
            self._spare_keys, self._spare_values = torch.empty_like(self.keys), torch.empty_like(self.values)
        self.keys[layer, :, :, self.length] = keys[:, :, 0]
        self.values[layer, :, :, self.length] = values[:, :, 0]
        live = self.length + 1
        return self.keys[layer, :, :, :live], self.values[layer, :, :, :live]

    def reorder(self, rows: Tensor) -> None:
        """Let row i go on from what row rows[i] remembers; rows (R,) stay within their sentences."""
        count = len(rows)
        if count == self.keys.shape[1] and torch.equal(rows, torch.arange(count, device=rows.device)):
            return
        _copy_rows(self.keys, self._spare_keys, rows, self.length)
        _copy_rows(self.values, self._spare_values, rows, self.length)
        self.keys, self._spare_keys = self._spare_keys[:, :count], self.keys[:, :count]
        self.values, self._spare_values = self._spare_values[:, :count], self.values[:, :count]

    def keep_sentences(self, sentences: Tensor) -> None:
        """Forget the sources of finished sentences; the caller reorders the rows to match."""
        for source in self.sources:
            source.keys, source.values = source.keys[sentences], source.values[sentences]
        if self.source_mask is not None:
            self.source_mask = _needed(self.source_mask[sentences])


def _needed(mask: Tensor) -> Tensor | None:
    """The mask, or None if it forbids nothing."""
    return None if bool(mask.all()) else mask


def _copy_rows(past: Tensor, to: Tensor, rows: Tensor, length: int) -> None:
    """Copy the live part of the chosen rows: to[:, i] = past[:, rows[i]]."""
    torch.index_select(past[..., :length, :], 1, rows, out=to[:, : len(rows), :, :length])


def _doubled(cached: Tensor) -> Tensor:
    """(L, R, H, n, x) -> (L, R, H, 2n, x), the second half still empty."""
    return torch.cat((cached, torch.empty_like(cached)), dim=3)
