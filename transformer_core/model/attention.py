"""Scaled dot-product attention and multi-head attention (Section 3.2), open to hooks.

A model is built of faster classes: `fast_attention.py` computes the same, and takes equation 1 from here whenever a
hook listens to scores or weights. `additive.py` computes other scores, `restricted.py` attends to a neighbourhood only;
see `attention_variants.py` for more.

Shape legend: B rows of the batch, H heads, Q queries, K keys, d = d_model.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from transformer_core.cpu.dropout import Dropout
from transformer_core.hooks.points import HookPoint, run_hooks
from transformer_core.model.head_results import sum_of_edited_results
from transformer_core.model.masks import causal_mask


def attention_scores(queries: Tensor, keys: Tensor, mask: Tensor | None, scale: float | None = None) -> Tensor:
    """Return QK^T / sqrt(d_k), minus infinity where the mask forbids.

    Args:
        queries: (B, H, Q, d_k).
        keys: (B, H, K, d_k).
        mask: Boolean, True where attention is allowed, broadcast to (B, H, Q, K); None allows all.
        scale: Factor of the products; None means 1 / sqrt(d_k).

    Returns:
        (B, H, Q, K).
    """
    scale = 1.0 / math.sqrt(queries.shape[-1]) if scale is None else scale
    scores = (queries @ keys.transpose(-2, -1)) * scale
    return scores if mask is None else scores.masked_fill(~mask, -math.inf)


def attention_weights(scores: Tensor) -> Tensor:
    """Softmax over the keys, in float32; a query that may attend to nothing has weights 0, not NaN.

    (B, H, Q, K) -> the same.
    """
    weights = torch.softmax(scores, dim=-1, dtype=torch.float32)
    # Only in a row of nothing but minus infinity; NaN that comes from NaN stays. The sum is far faster than a maximum.
    fully_masked = weights[..., :1].isnan() & (scores.detach().sum(dim=-1, keepdim=True) == -math.inf)
    return weights.masked_fill(fully_masked, 0.0)


class MultiHeadAttention(nn.Module):
    """MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O (Section 3.2.2).

    Everything can be read and changed at the hook points (see `hooks/points.py`).

    Args:
        d_model: Width of inputs and output.
        num_heads: h.
        d_k: Width of one head's queries and keys.
        d_v: Width of one head's values.
        dropout: Probability of dropping a weight.
        biases: Whether the four projections have biases.
        scaled: Whether scores are divided by sqrt(d_k).
        causal: Whether later positions are masked, as in the decoder's self-attention (Section 3.2.3).
    """

    def __init__(
        self,
        *,
        d_model: int,
        num_heads: int,
        d_k: int,
        d_v: int,
        dropout: float = 0.0,
        biases: bool = False,
        scaled: bool = True,
        causal: bool = False,
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.scale = 1.0 / math.sqrt(d_k) if scaled else 1.0
        self.causal = causal
        self.w_q = nn.Linear(d_model, num_heads * d_k, bias=biases)
        self.w_k = nn.Linear(d_model, num_heads * d_k, bias=biases)
        self.w_v = nn.Linear(d_model, num_heads * d_v, bias=biases)
        self.w_o = nn.Linear(num_heads * d_v, d_model, bias=biases)
        self.dropout = Dropout(dropout)

        self.queries = HookPoint()  # (B, H, Q, d_k)
        self.keys = HookPoint()  # (B, H, K, d_k)
        self.values = HookPoint()  # (B, H, K, d_v)
        self.scores = HookPoint()  # (B, H, Q, K)
        self.weights = HookPoint()  # (B, H, Q, K)
        self.head_outputs = HookPoint()  # (B, H, Q, d_v)
        self.head_results = HookPoint()  # (B, H, Q, d)
        self.attention_output = HookPoint()  # (B, Q, d)

    def reset_extra_parameters(self) -> None:
        """Draw the parameters of a variant beyond the four projections."""

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        """Let every position of x attend to the positions of memory.

        Args:
            x: (B, Q, d), input of the queries.
            memory: (B, K, d), input of the keys and values; x itself in self-attention.
            mask: Boolean, broadcast to (B, H, Q, K), True where attention is allowed.

        Returns:
            (B, Q, d).
        """
        return self.attend(self.project_queries(x), *self.project_keys_and_values(memory), mask)

    def project_queries(self, x: Tensor) -> Tensor:
        """(B, Q, d) -> (B, H, Q, d_k)."""
        return run_hooks(self.queries, self.split_heads(self.w_q(x)))

    def project_keys_and_values(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """(B, K, d) -> (B, H, K, d_k) and (B, H, K, d_v)."""
        keys = run_hooks(self.keys, self.split_heads(self.w_k(memory)))
        values = run_hooks(self.values, self.split_heads(self.w_v(memory)))
        return keys, values

    def split_heads(self, x: Tensor) -> Tensor:
        """(B, n, H * d_head) -> (B, H, n, d_head)."""
        return x.view(*x.shape[:2], self.num_heads, -1).transpose(1, 2)

    def attend(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        """Attend to keys and values that were computed before, as in a cache.

        Args:
            queries: (B, H, Q, d_k).
            keys: (B, H, K, d_k), or (B / n, H, K, d_k) when n consecutive rows (beams, one query each) share them.
            values: Like the keys, with d_v.
            mask: Boolean, broadcast to the rows of the keys.

        Returns:
            (B, Q, d).
        """
        heads = run_hooks(self.head_outputs, self.compute_heads(queries, keys, values, mask))  # (B, H, Q, d_v)
        out = sum_of_edited_results(self.head_results, self.w_o, heads)
        if out is None:
            out = self.w_o(heads.transpose(1, 2).flatten(2))  # (B, Q, H * d_v) -> (B, Q, d)
        return run_hooks(self.attention_output, out)

    def compute_heads(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        """Return softmax(Q K^T / sqrt(d_k)) V of each head, (B, H, Q, d_v): equation 1."""
        keys, values, mask = for_each_row(queries, keys, values, mask)
        scores = self.compute_scores(queries, keys, self.whole_mask(queries, keys, mask))
        weights = run_hooks(self.weights, attention_weights(run_hooks(self.scores, scores)))
        # Dropped after the hook point, so that a captured row sums to 1 in training too.
        heads: Tensor = self.dropout(weights).to(values.dtype) @ values
        return heads

    def compute_scores(self, queries: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor:
        """(B, H, Q, d_k), (B, H, K, d_k) -> (B, H, Q, K), minus infinity where the mask forbids."""
        return attention_scores(queries, keys, mask, self.scale)

    def whole_mask(self, queries: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor | None:
        """Return the mask of all pairs; the queries are the last of the keys' positions in causal attention."""
        if not self.causal or queries.shape[2] == 1:
            return mask
        past = causal_mask(keys.shape[2], keys.device)[..., -queries.shape[2] :, :]
        return past if mask is None else past & mask


def for_each_row(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """(B / n, ...) -> (B, ...): repeat what the n beams of a sentence share."""
    beams = len(queries) // len(keys)
    if beams == 1:
        return keys, values, mask
    if mask is not None and len(mask) > 1:
        mask = mask.repeat_interleave(beams, dim=0)
    return keys.repeat_interleave(beams, dim=0), values.repeat_interleave(beams, dim=0), mask
