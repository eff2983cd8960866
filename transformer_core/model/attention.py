"""Scaled dot-product attention and multi-head attention (Section 3.2), open to hooks.

Two variants build on it: `additive.py` computes other scores, `restricted.py` attends to a neighbourhood only; see
`attention_variants.py` for more. Faster forms for a CPU are in `cpu/`, with their readable twins here.

Shape legend: B rows of the batch, H heads, Q queries, K keys, d = d_model.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_core.cpu.dropout import Dropout
from transformer_core.cpu.open_attention import masked_scores, softmax_under
from transformer_core.devices import backend
from transformer_core.hooks.points import HookPoint, has_hooks, run_hooks
from transformer_core.model.masks import is_causal
from transformer_core.model.projections import is_unhooked_linear, may_fuse, project_fused


def attention_scores(queries: Tensor, keys: Tensor, mask: Tensor | None, scale: float | None = None) -> Tensor:
    """Return QK^T / sqrt(d_k), minus infinity where the mask forbids: the readable twin of `masked_scores`.

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

    (B, H, Q, K) -> the same. `softmax_under` is its twin for scores that only a mask made minus infinity.
    """
    # Detached, or the backward pass would keep all scores beside the weights.
    fully_masked = scores.detach().amax(dim=-1, keepdim=True) == -math.inf
    # Filled before, too, or NaN would be the gradient of the scores.
    weights = torch.softmax(scores.masked_fill(fully_masked, 0.0), dim=-1, dtype=torch.float32)
    return weights.masked_fill(fully_masked, 0.0)


class MultiHeadAttention(nn.Module):
    """MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O (Section 3.2.2).

    The weights of each head can be read and changed at the hook points (see `hooks/points.py`). Without hooks on
    `scores` or `weights`, attention takes the fastest kernel of the device; with them, softmax is computed explicitly.

    Args:
        d_model: Width of inputs and output.
        num_heads: h.
        d_k: Width of one head's queries and keys.
        d_v: Width of one head's values.
        dropout: Probability of dropping a weight.
        biases: Whether the four projections have biases.
        scaled: Whether scores are divided by sqrt(d_k).
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
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.scale = 1.0 / math.sqrt(d_k) if scaled else 1.0
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

    def project_queries(self, x: Tensor) -> Tensor:
        """(B, Q, d) -> (B, H, Q, d_k)."""
        return run_hooks(self.queries, self._split_heads(self.w_q(x)))

    def project_keys_and_values(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """(B, K, d) -> (B, H, K, d_k) and (B, H, K, d_v)."""
        keys = run_hooks(self.keys, self._split_heads(self.w_k(memory)))
        values = run_hooks(self.values, self._split_heads(self.w_v(memory)))
        return keys, values

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        """Let every position of x attend to the positions of memory.

        Args:
            x: (B, Q, d), input of the queries.
            memory: (B, K, d), input of the keys and values; x itself in self-attention.
            mask: Boolean, broadcast to (B, H, Q, K), True where attention is allowed.

        Returns:
            (B, Q, d).
        """
        if may_fuse((self.w_q, self.w_k, self.w_v)):
            return self.attend(*self._project_fused(x, memory), mask)
        queries = self.project_queries(x)  # (B, H, Q, d_k)
        keys, values = self.project_keys_and_values(memory)  # (B, H, K, d_k), (B, H, K, d_v)
        return self.attend(queries, keys, values, mask)

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
        opened = has_hooks(self.scores, self.weights)
        heads = (self._attend_with_hooks if opened else self.attend_without_hooks)(queries, keys, values, mask)
        heads = run_hooks(self.head_outputs, heads)  # (B, H, Q, d_v)
        return run_hooks(self.attention_output, self._merge_heads(heads))

    def _merge_heads(self, heads: Tensor) -> Tensor:
        """(B, H, Q, d_v) -> (B, Q, d): Concat(heads) W^O; with hooks on `head_results` the sum of each head's part."""
        if not has_hooks(self.head_results):
            out: Tensor = self.w_o(heads.transpose(1, 2).flatten(2))  # (B, Q, H * d_v) -> (B, Q, d)
            return out
        if not is_unhooked_linear(self.w_o):
            raise ValueError("head_results takes W^O apart, which must be a plain nn.Linear without hooks of its own")
        w_o = self.w_o.weight.to(heads.dtype).view(-1, self.num_heads, heads.shape[-1]).permute(1, 2, 0)  # (H, d_v, d)
        summed = run_hooks(self.head_results, heads @ w_o).sum(dim=1)
        return summed if self.w_o.bias is None else summed + self.w_o.bias

    def _attend_with_hooks(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        """Compute softmax(Q K^T / sqrt(d_k)) V, equation 1: the readable twin of `attend_without_hooks`."""
        mask = self.whole_mask(queries, keys, mask)
        scores = self.compute_scores(_rows_to_queries(queries, keys), keys, mask)  # (B, H, Q, K)
        if has_hooks(self.scores):  # hooks may mask all keys of a query, which the mask does not know
            weights = attention_weights(run_hooks(self.scores, _queries_to_rows(scores, queries)))
        else:
            weights = _queries_to_rows(softmax_under(mask, scores), queries)
        weights = run_hooks(self.weights, weights)  # (B, H, Q, K)
        # Dropped after the hook point, so that a captured row sums to 1 in training too.
        heads = _rows_to_queries(self.dropout(weights), keys).to(values.dtype) @ values
        return _queries_to_rows(heads, queries)  # (B, H, Q, d_v)

    # --- what a variant may override ----------------------------------------------------------------------------------

    def compute_scores(self, queries: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor:
        """(B, H, Q, d_k), (B, H, K, d_k) -> (B, H, Q, K), minus infinity where the mask forbids."""
        return masked_scores(queries, keys, mask, self.scale)

    def whole_mask(self, queries: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor | None:
        """Return the mask of all pairs; a variant may hide more than the given mask."""
        return mask

    def attend_without_hooks(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        """(B, H, Q, d_v), the output of each head."""
        mask = self.whole_mask(queries, keys, mask)
        return _queries_to_rows(self.compute_heads(_rows_to_queries(queries, keys), keys, values, mask), queries)

    def compute_heads(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        """(B, H, Q, d_v) as fast as the device can: in the open in training on a CPU, else by a fused kernel.

        A fused kernel knows only the scaled dot product, so a variant with other scores computes them in the open.
        """
        own_scores = type(self).compute_scores is not MultiHeadAttention.compute_scores
        if own_scores or (queries.requires_grad and not backend(queries.device).is_asynchronous):
            return self.weigh(self.compute_scores(queries, keys, mask), values, mask)
        dropout, causal = self.dropout.p if self.training else 0.0, is_causal(mask)
        return F.scaled_dot_product_attention(
            queries,
            keys,
            values,
            attn_mask=None if causal else mask,  # with a mask the fastest kernels of a GPU are ruled out
            dropout_p=dropout,
            is_causal=causal,
            scale=self.scale,
        )

    def weigh(self, scores: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        """(B, H, Q, K), (B, H, K, d_v) -> (B, H, Q, d_v): the values, weighted by the softmax of the scores."""
        out: Tensor = self.dropout(softmax_under(mask, scores)).to(values.dtype) @ values
        return out

    def _split_heads(self, x: Tensor) -> Tensor:
        """(B, n, H * d_head) -> (B, H, n, d_head)."""
        return x.view(*x.shape[:2], self.num_heads, -1).transpose(1, 2)

    def _project_fused(self, x: Tensor, memory: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Project queries, keys and values in fewer products: twin of the projections in `forward`."""
        queries, keys, values = map(self._split_heads, project_fused(x, memory, (self.w_q, self.w_k, self.w_v)))
        return run_hooks(self.queries, queries), run_hooks(self.keys, keys), run_hooks(self.values, values)


def _rows_to_queries(queries: Tensor, keys: Tensor) -> Tensor:
    """(B, H, 1, x) -> (B / n, H, n, x), where n beams share the keys of one sentence; otherwise unchanged."""
    if queries.shape[0] == keys.shape[0]:
        return queries
    return queries.squeeze(2).reshape(keys.shape[0], -1, *queries.shape[1::2]).transpose(1, 2)


def _queries_to_rows(result: Tensor, queries: Tensor) -> Tensor:
    """(B / n, H, n, x) -> (B, H, 1, x): inverse of `_rows_to_queries`."""
    if result.shape[0] == queries.shape[0]:
        return result
    return result.transpose(1, 2).flatten(0, 1).unsqueeze(2)
