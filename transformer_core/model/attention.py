"""Scaled dot-product attention and multi-head attention (Section 3.2), open to hooks.

Two variants build on it: `additive.py` computes other scores, `restricted.py` attends to a neighbourhood only.

Shape legend: B rows of the batch, H heads, Q queries, K keys, d = d_model.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_core.cpu.dropout import Dropout
from transformer_core.hooks.points import HookPoint, has_hooks, run_hooks
from transformer_core.model.masks import attention_bias


def attention_scores(queries: Tensor, keys: Tensor, mask: Tensor | None, scale: float | None = None) -> Tensor:
    """QK^T / sqrt(d_k), minus infinity where the mask forbids.

    Args:
        queries: (B, H, Q, d_k).
        keys: (B, H, K, d_k).
        mask: Boolean, True where attention is allowed, broadcast to (B, H, Q, K); None allows all.
        scale: What the products are multiplied with; None means 1 / sqrt(d_k).

    Returns:
        (B, H, Q, K).
    """
    shape = (*queries.shape[:3], keys.shape[2])  # (B, H, Q, K)
    scale = 1.0 / math.sqrt(queries.shape[-1]) if scale is None else scale
    queries, keys = queries.flatten(0, 1), keys.flatten(0, 1).transpose(-2, -1)  # (B * H, Q, d_k), (B * H, d_k, K)
    added = None if mask is None else attention_bias(mask).as_additive(queries.dtype)
    # The scale, and the mask where it is the same for all rows, cost nothing as part of the product.
    if added is not None and added.numel() == added.shape[-2:].numel():
        start = added.reshape(1, *added.shape[-2:])
        return torch.baddbmm(start, queries, keys, alpha=scale).view(shape)
    scores = torch.baddbmm(queries.new_empty(1, 1, 1), queries, keys, beta=0.0, alpha=scale).view(shape)
    return scores if added is None else scores.add_(added)


def attention_weights(scores: Tensor, fully_masked: Tensor | None = None) -> Tensor:
    """Softmax over the keys, in float32; a query that may attend to nothing has weights 0, not NaN.

    Args:
        scores: (B, H, Q, K).
        fully_masked: Boolean, broadcast to (B, H, Q, 1), True for such queries, where that is known; None finds them.

    Returns:
        (B, H, Q, K).
    """
    if fully_masked is None:
        # Detached, or the backward pass would keep all scores beside the weights.
        fully_masked = scores.detach().amax(dim=-1, keepdim=True) == -math.inf
    # Filled before, too, or NaN would be the gradient of the scores.
    weights = torch.softmax(scores.masked_fill(fully_masked, 0.0), dim=-1, dtype=torch.float32)
    return weights.masked_fill(fully_masked, 0.0)


def weights_under_mask(scores: Tensor, mask: Tensor | None) -> Tensor:
    """`attention_weights` of scores that only the mask made minus infinity, so that most need no second pass.

    Args:
        scores: (B, H, Q, K).
        mask: As of `attention_scores`.

    Returns:
        (B, H, Q, K).
    """
    fully_masked = None if mask is None else attention_bias(mask).fully_masked
    if fully_masked is None:
        return torch.softmax(scores, dim=-1, dtype=torch.float32)
    return attention_weights(scores, fully_masked)


class MultiHeadAttention(nn.Module):
    """MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O (Section 3.2.2).

    The weights of each head can be read and changed at the hook points (see `hooks.py`). Without hooks on `scores` or
    `weights`, attention takes the fastest kernel of the device; with them, softmax is computed explicitly.

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
        if self._can_fuse_projections(x):
            return self.attend(*self._project_fused(x, memory), mask)
        keys, values = self.project_keys_and_values(memory)
        return self.attend(self.project_queries(x), keys, values, mask)

    def _can_fuse_projections(self, x: Tensor) -> bool:
        """Whether the fused Q, K, V projection is unobservable: CPU training, plain nn.Linear, no hooks."""
        if x.device.type != "cpu" or not torch.is_grad_enabled() or torch.compiler.is_compiling():
            return False
        return all(
            type(layer) is nn.Linear
            and not (layer._forward_hooks or layer._forward_pre_hooks)
            and not (layer._backward_hooks or layer._backward_pre_hooks)
            for layer in (self.w_q, self.w_k, self.w_v)
        )

    def _project_fused(self, x: Tensor, memory: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The twin of the separate projections: those of the same input are one product, faster in training."""
        if x is memory:
            queries, keys, values = _fused_linear(x, self.w_q, self.w_k, self.w_v)
        else:
            queries, (keys, values) = self.w_q(x), _fused_linear(memory, self.w_k, self.w_v)
        return (
            run_hooks(self.queries, self._split_heads(queries)),
            run_hooks(self.keys, self._split_heads(keys)),
            run_hooks(self.values, self._split_heads(values)),
        )

    def attend(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        """Attention with keys and values that were computed before, such as those of a cache.

        Args:
            queries: (B, H, Q, d_k).
            keys: (B, H, K, d_k), or (B / n, H, K, d_k) when n consecutive rows (beams, one query each) share them.
            values: As the keys, with d_v.
            mask: Boolean, broadcast to the rows of the keys.

        Returns:
            (B, Q, d).
        """
        if has_hooks(self.scores, self.weights):
            heads = self._attend_with_hooks(queries, keys, values, mask)
        else:
            heads = _queries_to_rows(self._attend(_rows_to_queries(queries, keys), keys, values, mask), queries)
        heads = run_hooks(self.head_outputs, heads)  # (B, H, Q, d_v)
        out: Tensor = self.w_o(heads.transpose(1, 2).flatten(2))  # (B, Q, H * d_v) -> (B, Q, d)
        return out

    def _attend_with_hooks(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        """The readable twin of `_attend`, with hook points: softmax(Q K^T / sqrt(d_k)) V, equation 1."""
        mask = self._whole_mask(queries, keys, mask)
        scores = self._scores(_rows_to_queries(queries, keys), keys, mask)
        if has_hooks(self.scores):  # hooks may mask all keys of a query, which the mask does not know
            weights = attention_weights(run_hooks(self.scores, _queries_to_rows(scores, queries)))
        else:
            weights = _queries_to_rows(weights_under_mask(scores, mask), queries)
        weights = run_hooks(self.weights, weights)  # (B, H, Q, K)
        # Dropped after the hook point, so that a captured row sums to 1 in training too.
        heads = _rows_to_queries(self.dropout(weights), keys).to(values.dtype) @ values
        return _queries_to_rows(heads, queries)  # (B, H, Q, d_v)

    def _scores(self, queries: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor:
        """(B, H, Q, d_k), (B, H, K, d_k) -> (B, H, Q, K); what a variant of attention changes."""
        return attention_scores(queries, keys, mask, self.scale)

    def _whole_mask(self, queries: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor | None:
        """The mask of all pairs; a variant may hide more than the given mask."""
        return mask

    def _attend(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        """(B, H, Q, d_v) as fast as the device can: fused, but in training on a CPU softmax in the open is faster."""
        if queries.device.type == "cpu" and queries.requires_grad:
            return self._weighted(self._scores(queries, keys, mask), values, mask)
        dropout = self.dropout.p if self.training else 0.0
        return F.scaled_dot_product_attention(
            queries, keys, values, attn_mask=mask, dropout_p=dropout, scale=self.scale
        )

    def _weighted(self, scores: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        """(B, H, Q, K), (B, H, K, d_v) -> (B, H, Q, d_v), without hooks."""
        out: Tensor = self.dropout(weights_under_mask(scores, mask)).to(values.dtype) @ values
        return out

    def _split_heads(self, x: Tensor) -> Tensor:
        """(B, n, H * d_head) -> (B, H, n, d_head)."""
        return x.view(*x.shape[:2], self.num_heads, -1).transpose(1, 2)


def _fused_linear(x: Tensor, *layers: nn.Linear) -> tuple[Tensor, ...]:
    """(B, n, d) -> the output of each layer, (B, n, out), from one matrix product."""
    weight = torch.cat([layer.weight for layer in layers])
    bias = None if layers[0].bias is None else torch.cat([layer.bias for layer in layers])
    return torch.split(F.linear(x, weight, bias), [layer.out_features for layer in layers], dim=-1)


def _rows_to_queries(queries: Tensor, keys: Tensor) -> Tensor:
    """(B, H, 1, x) -> (B / n, H, n, x), where n beams share the keys of one sentence; otherwise unchanged."""
    if queries.shape[0] == keys.shape[0]:
        return queries
    return queries.squeeze(2).reshape(keys.shape[0], -1, *queries.shape[1::2]).transpose(1, 2)


def _queries_to_rows(result: Tensor, queries: Tensor) -> Tensor:
    """(B / n, H, n, x) -> (B, H, 1, x): the way back."""
    if result.shape[0] == queries.shape[0]:
        return result
    return result.transpose(1, 2).flatten(0, 1).unsqueeze(2)
