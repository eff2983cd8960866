"""Embeddings, feed-forward networks, "Add & Norm", and the layers of encoder and decoder (Section 3).

Shape legend: B rows of the batch, S source positions, T target positions, d = d_model, V = vocab_size.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_core.attention import MultiHeadAttention
from transformer_core.config import ModelConfig


class SharedEmbedding(nn.Module):
    """One matrix for source embedding, target embedding and pre-softmax projection (Section 3.4)."""

    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__()
        self.scale = math.sqrt(d_model)
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model))  # (V, d)

    def forward(self, ids: Tensor) -> Tensor:
        """(B, n) ids -> (B, n, d), times sqrt(d_model)."""
        return F.embedding(ids, self.weight) * self.scale

    def logits(self, x: Tensor) -> Tensor:
        """(..., d) -> (..., V), unnormalised log-probabilities."""
        return F.linear(x, self.weight)


class FeedForward(nn.Module):
    """FFN(x) = max(0, x W_1 + b_1) W_2 + b_2, the same for every position (Section 3.3)."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w_1 = nn.Linear(d_model, d_ff)
        self.w_2 = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """(B, n, d) -> (B, n, d)."""
        out: Tensor = self.w_2(F.relu(self.w_1(x)))
        return out


class AddAndNorm(nn.Module):
    """LayerNorm(x + Dropout(Sublayer(x))), the residual connection around every sub-layer (Sections 3.1 and 5.4)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.d_model, eps=config.layer_norm_epsilon)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """(B, n, d) -> (B, n, d)."""
        out: Tensor = self.norm(x + self.dropout(sublayer(x)))
        return out


def _attention(config: ModelConfig) -> MultiHeadAttention:
    return MultiHeadAttention(d_model=config.d_model, num_heads=config.num_heads, d_k=config.d_k, d_v=config.d_v)


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network, each with Add & Norm (Figure 1, left)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = _attention(config)
        self.self_attention_add_norm = AddAndNorm(config)
        self.feed_forward = FeedForward(config.d_model, config.d_ff)
        self.feed_forward_add_norm = AddAndNorm(config)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """(B, S, d), mask (B, 1, 1, S) -> (B, S, d)."""
        x = self.self_attention_add_norm(x, lambda x: self.self_attention(x, x, mask))
        out: Tensor = self.feed_forward_add_norm(x, self.feed_forward)
        return out


class DecoderLayer(nn.Module):
    """Masked self-attention, attention over the encoder's output, feed-forward network (Figure 1, right)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = _attention(config)
        self.self_attention_add_norm = AddAndNorm(config)
        self.cross_attention = _attention(config)
        self.cross_attention_add_norm = AddAndNorm(config)
        self.feed_forward = FeedForward(config.d_model, config.d_ff)
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
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.num_layers))


class Decoder(nn.Module):
    """A stack of N identical layers (Section 3.1)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.num_layers))
