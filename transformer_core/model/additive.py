"""Additive attention (Bahdanau et al. 2015), to which Section 3.2.1 compares the dot product.

A query and a key are scored by a network with one hidden layer: v . tanh(q + k). W^Q and W^K are the halves of its
first layer, so d_k is the width of the hidden layer of each head.

Shape legend: B rows of the batch, H heads, Q queries, K keys.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from transformer_core.hooks.points import has_hooks
from transformer_core.model.attention import MultiHeadAttention, attention_weights

_INNER_VALUES = 2**22  # (B, H, queries, K, d_k) values that exist at a time, 16 MiB in float32


def additive_scores(queries: Tensor, keys: Tensor, vector: Tensor, mask: Tensor | None) -> Tensor:
    """Return v . tanh(q + k) of every pair, minus infinity where the mask forbids.

    Args:
        queries: (B, H, Q, d_k).
        keys: (B, H, K, d_k).
        vector: (H, d_k), v of every head.
        mask: Boolean, True where attention is allowed, broadcast to (B, H, Q, K); None allows all.

    Returns:
        (B, H, Q, K).
    """
    inner = torch.tanh(queries[:, :, :, None] + keys[:, :, None])  # (B, H, Q, K, d_k)
    scores = (inner * vector[:, None, None]).sum(dim=-1)  # (B, H, Q, K)
    return scores if mask is None else scores.masked_fill(~mask, -math.inf)


class AdditiveAttention(MultiHeadAttention):
    """Multi-head attention with additive scores; everything else, hook points included, is the same.

    Queries go through in portions, since the inner values take d_k times the memory
    of the weights; more than one portion is computed again in the backward pass instead of being kept.

    Args:
        options: Options of MultiHeadAttention, by name.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.score_vector = nn.Parameter(torch.empty(options["num_heads"], options["d_k"]))

    def reset_extra_parameters(self) -> None:
        """Draw v like Glorot: from d_k inner values to one score."""
        bound = math.sqrt(6.0 / (self.score_vector.shape[1] + 1))
        nn.init.uniform_(self.score_vector, -bound, bound)

    def compute_scores(self, queries: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor:
        """V . tanh(q + k) instead of a product."""
        return additive_scores(queries, keys, self.score_vector, mask)

    def compute_heads(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        """Attend in portions of queries; to all at once for hooks on scores or weights."""
        portion = max(1, _INNER_VALUES // (keys.numel() or 1))
        if portion >= queries.shape[2] or has_hooks(self.scores, self.weights):
            return super().compute_heads(queries, keys, values, mask)
        mask, heads = self.whole_mask(queries, keys, mask), []
        for start in range(0, queries.shape[2], portion):
            rows = slice(start, start + portion)
            part = mask if mask is None or mask.shape[-2] == 1 else mask[..., rows, :]
            inputs = (queries[:, :, rows], keys, values, part)
            is_inference = not torch.is_grad_enabled()
            heads.append(
                self._portion(*inputs) if is_inference else checkpoint(self._portion, *inputs, use_reentrant=False)
            )
        return torch.cat(heads, dim=2)  # (B, H, Q, d_v)

    def _portion(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        weights: Tensor = self.dropout(attention_weights(self.compute_scores(queries, keys, mask)))
        return weights.to(values.dtype) @ values
