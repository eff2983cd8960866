"""The fast twin of `MultiHeadAttention`, of which models are built.

Shape legend: B rows of the batch, H heads, Q queries, K keys, n beams of a sentence, d = d_model.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_core.devices import backend
from transformer_core.hooks.points import has_hooks, run_hooks
from transformer_core.model.attention import MultiHeadAttention, attention_scores, attention_weights
from transformer_core.model.head_results import is_unhooked_linear


class FastAttention(MultiHeadAttention):
    """`MultiHeadAttention` as fast as the device can, until a hook listens to scores or weights."""

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        """(B, Q, d), (B, K, d) -> (B, Q, d); in training Q, K and V of the same input are one product."""
        layers = (self.w_q, self.w_k, self.w_v)
        # Where nobody sees the difference: no hooks on the layers, and no compiler, which fuses by itself.
        if not torch.is_grad_enabled() or torch.compiler.is_compiling() or not all(map(_is_plain, layers)):
            return super().forward(x, memory, mask)
        projected = _linear(x, *layers) if x is memory else (self.w_q(x), *_linear(memory, self.w_k, self.w_v))
        queries, keys, values = map(self.split_heads, projected)
        queries, keys = run_hooks(self.queries, queries), run_hooks(self.keys, keys)
        return self.attend(queries, keys, run_hooks(self.values, values), mask)

    def compute_heads(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        """(B, H, Q, d_v); for hooks by equation 1 as it is written."""
        if has_hooks(self.scores, self.weights):
            return super().compute_heads(queries, keys, values, mask)
        return self.fused_heads(queries, keys, values, mask)

    def fused_heads(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        """(B, H, Q, d_v) without hooks on scores or weights."""
        # With a mask the fastest kernels of a GPU are ruled out.
        causal = self.causal and mask is None and queries.shape[2] == keys.shape[2] and not _is_cpu_training(queries)
        return self.kernel(queries, keys, values, None if causal else self.whole_mask(queries, keys, mask), causal)

    def kernel(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, causal: bool = False
    ) -> Tensor:
        """(B, H, Q, d_k), keys and values that beams may share, the mask of all pairs -> (B, H, Q, d_v)."""
        shared = len(queries) != len(keys)
        if shared:  # (B, H, 1, d_k) -> (B / n, H, n, d_k): the beams are queries to the same keys
            queries = queries.reshape(len(keys), -1, *queries.shape[1::2]).transpose(1, 2)
        if _is_cpu_training(queries):
            heads: Tensor = self.dropout(_open_weights(queries, keys, mask, self.scale)).to(values.dtype) @ values
        else:
            dropout = self.dropout.p if self.training else 0.0
            heads = F.scaled_dot_product_attention(
                queries, keys, values, attn_mask=mask, dropout_p=dropout, is_causal=causal, scale=self.scale
            )
        return heads.transpose(1, 2).flatten(0, 1).unsqueeze(2) if shared else heads


def _is_cpu_training(queries: Tensor) -> bool:
    """Return whether weights in the open are faster: a CPU's fused kernel computes them again in the backward pass."""
    return queries.requires_grad and not backend(queries.device).is_asynchronous


def _open_weights(queries: Tensor, keys: Tensor, mask: Tensor | None, scale: float) -> Tensor:
    """Return the weights, (B, H, Q, K), in fewer passes over memory than `attention_scores`, `attention_weights`."""
    if mask is not None and (torch.compiler.is_compiling() or not bool(mask.any(dim=-1).all())):
        return attention_weights(attention_scores(queries, keys, mask, scale))  # a query may attend to nothing
    shape = (*queries.shape[:3], keys.shape[2])
    queries, keys = queries.flatten(0, 1), keys.flatten(0, 1).mT  # (B * H, Q, d_k), (B * H, d_k, K)
    if mask is not None and mask.numel() == mask.shape[-2:].numel():  # one for all rows costs nothing in the product
        scores = torch.baddbmm(_bias(mask, queries).view(1, *mask.shape[-2:]), queries, keys, alpha=scale).view(shape)
    else:
        scores = torch.baddbmm(queries.new_empty(1, 1, 1), queries, keys, beta=0.0, alpha=scale).view(shape)
        if mask is not None:
            scores = scores.add_(_bias(mask, queries))
    return torch.softmax(scores, dim=-1, dtype=torch.float32)


def _bias(mask: Tensor, like: Tensor) -> Tensor:
    """Return 0 where attention is allowed, else minus infinity: adding is faster than filling, and so its gradient."""
    return torch.zeros(mask.shape, dtype=like.dtype, device=like.device).masked_fill_(~mask, -math.inf)


def _is_plain(layer: nn.Module) -> bool:
    return type(layer) is nn.Linear and is_unhooked_linear(layer)


def _linear(x: Tensor, *layers: nn.Linear) -> tuple[Tensor, ...]:
    """(B, n, d) -> the output of each layer, (B, n, out), from one product."""
    weight = torch.cat([layer.weight for layer in layers])
    bias = None if layers[0].bias is None else torch.cat([layer.bias for layer in layers])
    return torch.split(F.linear(x, weight, bias), [layer.out_features for layer in layers], dim=-1)
