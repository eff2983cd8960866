"""Attention of few queries, as at a step of decoding, where the fused kernel of a CPU is slow: it is made for many."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

_NOTHING = torch.zeros(())


def attend(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    scale: float,
    forbidden: Tensor | None = None,
    record: list[Tensor] | None = None,
) -> Tensor:
    """Return softmax(scale * Q K^T) V, equation 1, for all heads of all rows at once.

    On a CPU three plain kernels; elsewhere `scaled_dot_product_attention`, their readable twin.

    Args:
        queries: (N, Q, d_k).
        keys: (N, d_k, K), transposed.
        values: (N, K, d_v).
        scale: Factor of the products, 1 / sqrt(d_k) in the paper.
        forbidden: (N, 1, K), minus infinity where a key is padding and 0 elsewhere; None forbids nothing.
        record: Takes the weights, (N, Q, K), where they are computed: on a CPU.

    Returns:
        (N, Q, d_v).
    """
    if queries.dtype != torch.float32 or not queries.is_cpu:
        bias = None if forbidden is None else forbidden.to(queries.dtype)[None]
        keys = keys.transpose(1, 2)
        return F.scaled_dot_product_attention(queries[None], keys[None], values[None], attn_mask=bias, scale=scale)[0]
    if forbidden is None:
        scores = torch.baddbmm(_NOTHING, queries, keys, beta=0, alpha=scale)  # (N, Q, K)
    else:
        scores = torch.baddbmm(forbidden, queries, keys, alpha=scale)
    weights = torch.softmax(scores, dim=-1)
    if record is not None:
        record.append(weights)
    return torch.bmm(weights, values)
