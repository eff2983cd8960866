"""Encoder and decoder step as graphs without hooks, which return every attention weight.

Shape legend: L layers, B sentences, H heads, S source positions, t tokens so far, V = vocab_size, d = d_model.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from transformer_core.model.attention import MultiHeadAttention
from transformer_core.model.layers import DecoderLayer, EncoderLayer
from transformer_core.model.transformer import Transformer


class EncoderGraph(nn.Module):
    """Encoder with the keys and values for the decoder steps.

    Args:
        model: In evaluation mode, with dot-product attention over all positions.
        pad: Id of padding.
        positions: Length of the longest source.
    """

    def __init__(self, model: Transformer, pad: int, positions: int) -> None:
        super().__init__()
        self.encoder, self.pad = model.encoder, pad
        self.embedding = model.source_embedding or model.embedding
        self.cross = nn.ModuleList(layer.cross_attention for layer in _decoder_layers(model))
        table = (model.source_positions or model.positions)(0, positions)
        self.register_buffer("positions", table.detach().clone())  # (positions, d)

    def forward(self, source: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Encode sources.

        Args:
            source: (B, S) ids, each sentence ending with `</s>`, padded.

        Returns:
            The encoder's output (B, S, d), keys (L, B, H, S, d_k) and values (L, B, H, S, d_v) of encoder-decoder
            attention, and the weights of the encoder's self-attention (L, B, H, S, S).
        """
        mask = (source != self.pad)[:, None, None, :]  # (B, 1, 1, S)
        table: Tensor = self.get_buffer("positions")
        x = self.encoder.embedding_norm(self.embedding(source) + table[: source.shape[1]])
        maps = []
        for layer in self.encoder.layers:
            assert isinstance(layer, EncoderLayer)
            x, weights = _self_attention(layer, x, mask)
            x = layer.feed_forward_add_norm(x, layer.feed_forward)
            maps.append(weights)
        x = self.encoder.norm(x)
        sides = [_keys_and_values(attention, x) for attention in self.cross]
        keys, values = (torch.stack(each) for each in zip(*sides, strict=True))
        return x, keys, values, torch.stack(maps)


class DecoderStepGraph(nn.Module):
    """One step of the decoder: a token in each row, logits of the next one, and the keys and values so far.

    Args:
        model: As for the encoder.
        pad: Id of padding.
        positions: Length of the longest translation.
    """

    def __init__(self, model: Transformer, pad: int, positions: int) -> None:
        super().__init__()
        self.decoder, self.pad = model.decoder, pad
        self.embedding, self.output = model.embedding, model.projection or model.embedding
        self.output_bias = model.output_bias
        self.register_buffer("positions", model.positions(0, positions).detach().clone())  # (positions, d)

    def forward(
        self,
        tokens: Tensor,
        source: Tensor,
        source_keys: Tensor,
        source_values: Tensor,
        past_keys: Tensor,
        past_values: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """Read one more token in every row.

        Args:
            tokens: (B, 1) ids: `<s>` first, then the last generated token.
            source: (B, S) ids, for the padding mask.
            source_keys: (L, B, H, S, d_k) of the encoder.
            source_values: (L, B, H, S, d_v).
            past_keys: (L, B, H, t, d_k) of the step before; t is 0 at first.
            past_values: (L, B, H, t, d_v).

        Returns:
            Logits (B, V), keys (L, B, H, t + 1, d_k), values (L, B, H, t + 1, d_v), weights of self-attention
            (L, B, H, 1, t + 1) and of encoder-decoder attention (L, B, H, 1, S).
        """
        mask = (source != self.pad)[:, None, None, :]  # (B, 1, 1, S)
        table: Tensor = self.get_buffer("positions")
        at = torch.arange(past_keys.shape[3], past_keys.shape[3] + 1)  # one row, whatever t is
        x = self.decoder.embedding_norm(self.embedding(tokens) + table[at])  # (B, 1, d)
        updates: list[tuple[Tensor, ...]] = []
        for number, layer in enumerate(self.decoder.layers):
            assert isinstance(layer, DecoderLayer)
            given = (source_keys[number], source_values[number], past_keys[number], past_values[number])
            x, *new = _decoder_layer(layer, x, mask, *given)
            updates.append(tuple(new))
        x = self.decoder.norm(x)
        keys, values, own, cross = (torch.stack(each) for each in zip(*updates, strict=True))
        return self.output.logits(x, self.output_bias)[:, 0], keys, values, own, cross


def _decoder_layers(model: Transformer) -> list[DecoderLayer]:
    return [layer for layer in model.decoder.layers if isinstance(layer, DecoderLayer)]


def _self_attention(layer: EncoderLayer, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    weights: list[Tensor] = []

    def attend(x: Tensor) -> Tensor:
        out, attention = _attend(layer.self_attention, x, *_keys_and_values(layer.self_attention, x), mask)
        weights.append(attention)
        return out

    return layer.self_attention_add_norm(x, attend), weights[0]


def _decoder_layer(
    layer: DecoderLayer,
    x: Tensor,
    mask: Tensor,
    source_keys: Tensor,
    source_values: Tensor,
    past_keys: Tensor,
    past_values: Tensor,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Apply a layer to (B, 1, d); return its output, the keys and values so far, and the weights of both attentions."""
    outputs: list[Tensor] = []

    def to_past(x: Tensor) -> Tensor:
        pair = zip((past_keys, past_values), _keys_and_values(layer.self_attention, x), strict=True)
        keys, values = (torch.cat(each, dim=2) for each in pair)  # (B, H, t + 1, ...)
        out, weights = _attend(layer.self_attention, x, keys, values, None)
        outputs.extend((keys, values, weights))
        return out

    def to_source(x: Tensor) -> Tensor:
        out, weights = _attend(layer.cross_attention, x, source_keys, source_values, mask)
        outputs.append(weights)
        return out

    x = layer(x, to_past, to_source)
    keys, values, self_attention, cross = outputs
    return x, keys, values, self_attention, cross


def _keys_and_values(attention: nn.Module, x: Tensor) -> tuple[Tensor, Tensor]:
    assert isinstance(attention, MultiHeadAttention)
    return attention.project_keys_and_values(x)


def _attend(
    attention: MultiHeadAttention, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Apply equation 1, softmax(Q K^T / sqrt(d_k)) V, to (B, Q, d); return its output and weights (B, H, Q, K)."""
    scores = (attention.project_queries(x) @ keys.transpose(-2, -1)) * attention.scale
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    heads = weights @ values  # (B, H, Q, d_v)
    out: Tensor = attention.w_o(heads.transpose(1, 2).flatten(2))
    return out, weights
