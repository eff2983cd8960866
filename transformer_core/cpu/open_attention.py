"""Scores and softmax in few passes over memory, where no fused kernel computes them.

The readable twins are `attention_scores` and `attention_weights` of `model/attention.py`.

Shape legend: B rows of the batch, H heads, Q queries, K keys.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from transformer_core.devices import backend


class AttentionBias:
    """A mask in the form that is added to scores, computed once: the layers of a model share one mask.

    Args:
        mask: Boolean, (..., Q or 1, K or 1), True where attention is allowed.

    Attributes:
        fully_masked: (..., Q or 1, 1), True for queries that may attend to no key; None if there are none.
    """

    def __init__(self, mask: Tensor) -> None:
        self._hidden = ~mask
        self._added: dict[torch.dtype, Tensor] = {}
        fully_masked = self._hidden.all(dim=-1, keepdim=True)
        # Reading the answer makes a GPU wait, and is impossible while compiling.
        readable = not backend(mask.device).is_asynchronous and not torch.compiler.is_compiling()
        self.fully_masked = None if readable and not bool(fully_masked.any()) else fully_masked

    def as_additive(self, dtype: torch.dtype) -> Tensor:
        """Return zero where attention is allowed, else minus infinity.

        Adding is faster than filling, and so is its gradient.
        """
        if dtype not in self._added:
            zeros = torch.zeros(self._hidden.shape, dtype=dtype, device=self._hidden.device)
            self._added[dtype] = zeros.masked_fill_(self._hidden, -math.inf)
        return self._added[dtype]


_CACHED = "_headlight_attention_bias"  # an attribute of mask tensors: the version of the mask, and its bias


def attention_bias(mask: Tensor) -> AttentionBias:
    """Return the bias of a mask, cached on the mask until it is written to."""
    # Tensors of inference mode have no version, and a later training could not use them.
    if torch.compiler.is_compiling() or torch.is_inference_mode_enabled() or mask.is_inference():
        return AttentionBias(mask)
    known: tuple[int, AttentionBias] | None = mask.__dict__.get(_CACHED)
    if known is None or known[0] != mask._version:
        known = (mask._version, AttentionBias(mask))
        mask.__dict__[_CACHED] = known
    return known[1]


def masked_scores(queries: Tensor, keys: Tensor, mask: Tensor | None, scale: float) -> Tensor:
    """Return scale * Q K^T, minus infinity where the mask forbids: (B, H, Q, d_k), (B, H, K, d_k) -> (B, H, Q, K)."""
    shape = (*queries.shape[:3], keys.shape[2])  # (B, H, Q, K)
    queries, keys = queries.flatten(0, 1), keys.flatten(0, 1).transpose(-2, -1)  # (B * H, Q, d_k), (B * H, d_k, K)
    added = None if mask is None else attention_bias(mask).as_additive(queries.dtype)
    # The scale, and the mask where it is the same for all rows, cost nothing as part of the product.
    if added is not None and added.numel() == added.shape[-2:].numel():
        start = added.reshape(1, *added.shape[-2:])
        return torch.baddbmm(start, queries, keys, alpha=scale).view(shape)
    scores = torch.baddbmm(queries.new_empty(1, 1, 1), queries, keys, beta=0.0, alpha=scale).view(shape)
    return scores if added is None else scores.add_(added)


def softmax_under(mask: Tensor | None, scores: Tensor) -> Tensor:
    """(B, H, Q, K) -> the same: softmax of scores that only the mask made minus infinity, so most need no second pass.

    A fully masked query has weights 0; it is filled before, too, or NaN would be the gradient of its scores.
    """
    fully_masked = None if mask is None else attention_bias(mask).fully_masked
    if fully_masked is None:
        return torch.softmax(scores, dim=-1, dtype=torch.float32)
    weights = torch.softmax(scores.masked_fill(fully_masked, 0.0), dim=-1, dtype=torch.float32)
    return weights.masked_fill(fully_masked, 0.0)
