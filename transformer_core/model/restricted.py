"""Self-attention restricted to a neighbourhood (Section 4, Table 1), in time and memory linear in the length.

Queries are cut into blocks no shorter than the window, so that a block attends to itself and its neighbours only.

Shape legend: B rows of the batch, H heads, n positions, Q queries, K keys, N blocks, b positions of a block, w
positions that a block sees (2b or 3b).
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_core.model.fast_attention import FastAttention

_SHORTEST_BLOCK = 16  # many tiny products are slower than a few with masked pairs


def window_mask(queries: int, keys: int, window: int, causal: bool, device: torch.device | None = None) -> Tensor:
    """(Q, K), True where a query may look: at most `window` positions away, and not ahead if causal.

    The queries are the last ones of the keys' positions.
    """
    at = torch.arange(keys - queries, keys, device=device)[:, None]
    distance = at - torch.arange(keys, device=device)[None]  # (Q, K)
    return _near(distance, window, causal)


def _near(distance: Tensor, window: int, causal: bool) -> Tensor:
    return (distance <= window) & (distance >= (0 if causal else -window))


class RestrictedAttention(FastAttention):
    """Multi-head self-attention in which a position attends to `window` positions on either side, and itself.

    Hooks on `scores` or `weights` see all pairs, with zeros outside the window.

    Args:
        window: Positions seen on either side.
        options: Options of MultiHeadAttention, by name.
    """

    def __init__(self, *, window: int, **options: Any) -> None:
        super().__init__(**options)
        self.window = window

    def whole_mask(self, queries: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor:
        """(Q, K) or broadcast with the mask: the window, too, hides keys."""
        near = window_mask(queries.shape[2], keys.shape[2], self.window, self.causal, queries.device)
        return near if mask is None else near & mask

    def fused_heads(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        """Attend in blocks; the mask is one of keys, (B, 1, 1, n)."""
        if mask is not None and mask.shape[-2] != 1:
            raise ValueError(f"restricted attention takes a mask of keys, (B, 1, 1, n), not {tuple(mask.shape)}")
        length = keys.shape[2]
        if queries.shape[2] == 1:  # the newest position, in decoding step by step
            seen = slice(max(0, length - 1 - self.window), length)
            nearby = None if mask is None else mask[..., seen]
            return self.kernel(queries, keys[:, :, seen], values[:, :, seen], nearby)
        assert queries.shape[2] == length, "self-attention has a query for every key"
        size = max(self.window, _SHORTEST_BLOCK)
        after = 0 if self.causal else 1
        allowed = self._allowed(length, size, after, mask, queries.device)  # (B or 1, N, 1, b, w)
        heads = self._attend_blocks(
            _blocks(queries, size, 0, 0), _blocks(keys, size, 1, after), _blocks(values, size, 1, after), allowed
        )  # (B, N, H, b, d_v)
        return heads.transpose(1, 2).flatten(2, 3)[:, :, :length]  # (B, H, n, d_v)

    def _allowed(self, length: int, size: int, after: int, mask: Tensor | None, device: torch.device) -> Tensor:
        """(B or 1, N, 1, b, w): near enough, within the sequence, and no padding."""
        first = torch.arange(0, length, size, device=device)[:, None, None]  # (N, 1, 1) where each block starts
        at = first + torch.arange(size, device=device)[:, None]  # (N, b, 1)
        key = first + torch.arange(-size, size * (1 + after), device=device)  # (N, 1, w)
        allowed = _near(at - key, self.window, self.causal) & (key >= 0) & (key < length)
        allowed = allowed[None, :, None]  # (1, N, 1, b, w)
        if mask is None:
            return allowed
        # (B, 1, 1, n) -> (B, N, 1, 1, w)
        return allowed & _blocks(mask.transpose(-2, -1), size, 1, after).transpose(-2, -1)

    def _attend_blocks(self, queries: Tensor, keys: Tensor, values: Tensor, allowed: Tensor) -> Tensor:
        """(B, N, H, b, d_k), (B, N, H, w, d_k | d_v) -> (B, N, H, b, d_v)."""
        rows = queries.shape[0]
        somewhere = allowed.any(dim=-1, keepdim=True)  # (B or 1, N, 1, b, 1)
        # Padding far from the text may attend to nothing, which kernels treat differently: let it attend anywhere and
        # discard the result.
        mask = (allowed | ~somewhere).expand(rows, *allowed.shape[1:])
        queries, keys, values, mask = (x.flatten(0, 1) for x in (queries, keys, values, mask))
        flat = self.kernel(queries, keys, values, mask)  # (B * N, H, b, d_v)
        return flat.view(rows, -1, *flat.shape[1:]).masked_fill(~somewhere, 0.0)


def _blocks(x: Tensor, size: int, before: int, after: int) -> Tensor:
    """(B, H, n, x) -> (B, N, H, w, x): every block with its neighbours, zeros beyond the ends."""
    count = -(-x.shape[2] // size)
    padded = F.pad(x, (0, 0, before * size, count * size - x.shape[2] + after * size))
    seen = padded.unfold(2, (before + 1 + after) * size, size)  # (B, H, N, x, w)
    return seen.permute(0, 2, 1, 4, 3)
