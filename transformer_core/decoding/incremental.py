"""Decoding one position at a time over cached keys and values, on the faster of two paths.

Shape legend: B sentences, R rows (sentences x beams), S source positions, d = d_model, V = vocab_size.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_core.cpu.packed import PackedLinear, kept, may_pack
from transformer_core.decoding.fused_step import FusedDecodeStep
from transformer_core.decoding.kv_cache import CrossKV, KVCache
from transformer_core.hooks.points import run_hooks
from transformer_core.model.attention import MultiHeadAttention, attention_weights, for_each_row
from transformer_core.model.layers import DecoderLayer
from transformer_core.model.transformer import Transformer


class IncrementalDecoder:
    """The decoder of a model over one batch of sources, which it reads step by step.

    Weights are packed here; after they change, start another one.

    Args:
        model: In evaluation mode.
        memory: (B, S, d) from `model.encode`.
        source_mask: (B, 1, 1, S), True where a source position is no padding.
        beams: Rows for each sentence; row r belongs to sentence r // beams.
        capacity: Positions that fit before the cache has to grow.

    Attributes:
        cache: Keys and values so far.
        packed_projection: The output projection, packed for few rows; None takes the model's own.
        fused_step: Replaces the modules of the decoder while it is applicable; None where it never is.
    """

    def __init__(self, model: Transformer, memory: Tensor, source_mask: Tensor, beams: int, capacity: int = 32) -> None:
        self._model = model
        self._layers = [layer for layer in model.decoder.layers if isinstance(layer, DecoderLayer)]
        sources = []
        for layer in self._layers:
            keys, values = layer.cross_attention.project_keys_and_values(memory)
            # Every step reads them again, which is up to twice as fast when the keys of a head are contiguous.
            sources.append(CrossKV(keys.contiguous(), values.contiguous()))
        config, rows = model.config, memory.shape[0] * beams
        width = config.d_k + config.d_v
        past = memory.new_empty(config.num_layers, rows, config.num_heads, capacity, width, dtype=sources[0].keys.dtype)
        self.cache = KVCache(sources, source_mask, past)
        weight, bias = model.output_weight, model.output_bias
        self.packed_projection: PackedLinear | None = None
        self.fused_step: FusedDecodeStep | None = None
        if may_pack(weight) and not model.has_half_weights:  # a copy would take the memory that these save
            self.packed_projection = kept(model, [weight, bias], rows, lambda: PackedLinear(weight, bias, rows))
            self.fused_step = FusedDecodeStep.try_build(model, self.packed_projection, rows, self.cache)

    @property
    def length(self) -> int:
        """Positions read so far."""
        return self.cache.length

    def step(self, tokens: Tensor, record: list[Tensor] | None = None) -> Tensor:
        """Read one more token in every row; for a causal model the same as the last row of `Transformer.decode`.

        Args:
            tokens: (R, 1) ids, the ones generated last.
            record: Takes the weights of this step in all layers: self-attention, (L, R, H, t), and encoder-decoder
                attention, (L, R, H, S). They are as before any edit.

        Returns:
            (R, V) logits of the next token.
        """
        if self.fused_step is not None and self.fused_step.is_applicable():
            return self.fused_step(tokens, self.cache, record)
        return self._readable_step(tokens, record)

    def _readable_step(self, tokens: Tensor, record: list[Tensor] | None = None) -> Tensor:
        """Run the modules of the decoder, hook points included: the readable twin of `FusedDecodeStep`."""
        model, cache = self._model, self.cache
        x = model.embed(tokens, first_position=cache.length)  # (R, 1, d)
        weights: list[Tensor] | None = None if record is None else []
        for number, layer in enumerate(self._layers):
            x = layer(
                x,
                lambda x, layer=layer, number=number: _attend_to_past(layer.self_attention, x, cache, number, weights),
                lambda x, layer=layer, number=number: _attend_to_source(
                    layer.cross_attention, x, cache, number, weights
                ),
            )
        cache.length += 1
        if record is not None and weights:
            record += torch.stack(weights[::2]), torch.stack(weights[1::2])
        x = model.decoder.norm(x)
        if self.packed_projection is None:
            return model.logits(x)[:, 0]
        return run_hooks(model.decoder.logits, self.packed_projection(x[:, 0])[:, None])[:, 0]

    def reorder(self, rows: Tensor) -> None:
        """Let row i continue the past of row rows[i]; rows (R,) stay within their sentences."""
        self.cache.reorder(rows)

    def keep_sentences(self, sentences: Sequence[int]) -> Tensor:
        """Drop all other sources and return these numbers on the device; `reorder` must follow, with the rows left."""
        return self.cache.keep_sentences(sentences)


def _attend_to_past(
    attention: MultiHeadAttention, x: Tensor, cache: KVCache, layer: int, record: list[Tensor] | None
) -> Tensor:
    keys, values = cache.append(layer, *attention.project_keys_and_values(x))
    return _attend(attention, x, keys, values, None, record)


def _attend_to_source(
    attention: MultiHeadAttention, x: Tensor, cache: KVCache, layer: int, record: list[Tensor] | None
) -> Tensor:
    source = cache.sources[layer]
    return _attend(attention, x, source.keys, source.values, cache.source_mask, record)


def _attend(
    attention: MultiHeadAttention,
    x: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None,
    record: list[Tensor] | None,
) -> Tensor:
    queries = attention.project_queries(x)
    if record is not None:
        own_keys, _, own_mask = for_each_row(queries, keys, values, mask)
        scores = attention.compute_scores(queries, own_keys, attention.whole_mask(queries, own_keys, own_mask))
        record.append(attention_weights(scores)[:, :, 0])
    return attention.attend(queries, keys, values, mask)
