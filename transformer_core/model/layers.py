"""Embeddings, feed-forward networks, "Add & Norm", and the layers of encoder and decoder (Section 3).

Shape legend: B rows of the batch, S source positions, T target positions, d = d_model, V = vocab_size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_core.attention_variants import VARIANTS
from transformer_core.config import Activation, ModelConfig
from transformer_core.cpu.dropout import Dropout
from transformer_core.hooks.hook_point import HookPoint, PaddingPoint, run_hooks
from transformer_core.model.attention import MultiHeadAttention
from transformer_core.model.layer_norm import LayerNorm
from transformer_core.paper.flops import attention_parameters

_ACTIVATIONS: dict[Activation, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu, "swish": F.silu}


class SharedEmbedding(nn.Module):
    """One matrix for source embedding, target embedding and pre-softmax projection (Section 3.4).

    Untied models have one for each use.
    """

    def __init__(self, vocab_size: int, d_model: int, *, scaled: bool = True) -> None:
        super().__init__()
        self.scale = math.sqrt(d_model) if scaled else 1.0
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model))  # (V, d)

    def forward(self, ids: Tensor) -> Tensor:
        """(B, n) ids -> (B, n, d), times sqrt(d_model) if they are scaled."""
        return F.embedding(ids, self.weight) * self.scale

    def logits(self, x: Tensor, bias: Tensor | None = None) -> Tensor:
        """(..., d) -> (..., V), unnormalised log-probabilities; the paper has no bias, (V,)."""
        return F.linear(x, self.weight, bias)


class FeedForward(nn.Module):
    """FFN(x) = max(0, x W_1 + b_1) W_2 + b_2, the same for every position (Section 3.3).

    Args:
        d_model: Width of input and output.
        d_ff: Inner width.
        activation: `relu` is the paper's max(0, x); `gelu` is the exact one, and `swish` is x * sigmoid(x).
        dropout: Probability of dropping an inner value after the activation.
    """

    def __init__(self, d_model: int, d_ff: int, *, activation: Activation = "relu", dropout: float = 0.0) -> None:
        super().__init__()
        self.w_1 = nn.Linear(d_model, d_ff)
        self.w_2 = nn.Linear(d_ff, d_model)
        self.activation = _ACTIVATIONS[activation]
        self.dropout = Dropout(dropout)
        self.activations = HookPoint()  # (B, n, d_ff)
        self.ffn_output = HookPoint()  # (B, n, d)

    def forward(self, x: Tensor) -> Tensor:
        """(B, n, d) -> (B, n, d)."""
        activations = run_hooks(self.activations, self.activation(self.w_1(x)))  # (B, n, d_ff)
        return run_hooks(self.ffn_output, self.w_2(self.dropout(activations)))


class AddAndNorm(nn.Module):
    """LayerNorm(x + Dropout(Sublayer(x))), the residual connection around every sub-layer (Sections 3.1 and 5.4).

    Pre-norm is x + Dropout(Sublayer(LayerNorm(x))) instead. Without a residual connection nothing is added.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.pre_norm = config.norm == "pre"
        self.adds = config.residual
        self.norm = LayerNorm(config.d_model, config.layer_norm_epsilon)
        self.dropout = Dropout(config.dropout)
        self.residual = HookPoint()  # (B, n, d)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """(B, n, d) -> (B, n, d)."""
        out = self.dropout(sublayer(self.norm(x) if self.pre_norm else x))
        if self.adds:
            out = x + out
        return run_hooks(self.residual, out if self.pre_norm else self.norm(out))


def build_attention(config: ModelConfig, *, causal: bool | None = None) -> MultiHeadAttention:
    """Build attention of the variant that the configuration names.

    Args:
        config: Of the model.
        causal: Whether self-attention masks later positions; None for attention between encoder and decoder, which is
            never restricted to a window.

    Raises:
        ValueError: The variant has other parameters than it was registered with.
    """
    options: dict[str, Any] = {
        "d_model": config.d_model,
        "num_heads": config.num_heads,
        "d_k": config.d_k,
        "d_v": config.d_v,
        "dropout": config.attention_dropout,
        "biases": config.attention_biases,
        "scaled": config.scaled,
        "causal": bool(causal),
    }
    restricted = bool(config.window) and causal is not None
    if restricted:
        options["window"] = config.window
    built: MultiHeadAttention = VARIANTS[config.attention].module_class(restricted)(**options)
    counted, declared = sum(map(Tensor.numel, built.parameters())), attention_parameters(config)
    if counted != declared:
        raise ValueError(
            f"attention {config.attention!r} has {counted:,} parameters, but was registered with {declared:,}; "
            "correct its extra_parameters"
        )
    return built


def _feed_forward(config: ModelConfig) -> FeedForward:
    return FeedForward(config.d_model, config.d_ff, activation=config.activation, dropout=config.activation_dropout)


def _last_norm(config: ModelConfig) -> nn.Module:
    """Build the final norm of a stack: LayerNorm with pre-norm, whose residual sum is not normalised, else none."""
    return _norm_if(config.norm == "pre", config)


def _norm_if(present: bool, config: ModelConfig) -> nn.Module:
    return LayerNorm(config.d_model, config.layer_norm_epsilon) if present else nn.Identity()


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network, each with Add & Norm (Figure 1, left)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = build_attention(config, causal=False)
        self.self_attention_add_norm = AddAndNorm(config)
        self.feed_forward = _feed_forward(config)
        self.feed_forward_add_norm = AddAndNorm(config)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """(B, S, d), mask (B, 1, 1, S) or None -> (B, S, d)."""
        x = self.self_attention_add_norm(x, lambda x: self.self_attention(x, x, mask))
        out: Tensor = self.feed_forward_add_norm(x, self.feed_forward)
        return out


class DecoderLayer(nn.Module):
    """Masked self-attention, attention over the encoder's output, feed-forward network (Figure 1, right)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = build_attention(config, causal=config.causal)
        self.self_attention_add_norm = AddAndNorm(config)
        self.cross_attention = build_attention(config)
        self.cross_attention_add_norm = AddAndNorm(config)
        self.feed_forward = _feed_forward(config)
        self.feed_forward_add_norm = AddAndNorm(config)

    def forward(
        self,
        x: Tensor,
        attend_to_self: Callable[[Tensor], Tensor],
        attend_to_source: Callable[[Tensor], Tensor],
    ) -> Tensor:
        """(B, T, d) -> (B, T, d); the two attentions come with their keys and values, whole or cached."""
        x = self.self_attention_add_norm(x, attend_to_self)
        x = self.cross_attention_add_norm(x, attend_to_source)
        out: Tensor = self.feed_forward_add_norm(x, self.feed_forward)
        return out


class Encoder(nn.Module):
    """A stack of N identical layers (Section 3.1)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.embedding_norm = _norm_if(config.embedding_norm, config)
        self.padding = PaddingPoint()  # (B, S)
        self.embeddings = HookPoint()  # (B, S, d)
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.num_layers))
        self.norm = _last_norm(config)


class Decoder(nn.Module):
    """A stack of N identical layers (Section 3.1)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.embedding_norm = _norm_if(config.embedding_norm, config)
        self.padding = PaddingPoint()  # (B, T)
        self.embeddings = HookPoint()  # (B, T, d)
        self.logits = HookPoint()  # (B, T, V)
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.num_layers))
        self.norm = _last_norm(config)
