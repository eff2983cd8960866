"""One step of decoding in as few kernels as possible, without hooks: the twin of the modules of the decoder.

Nothing but tensors: no module is called, no hook point visited; Q, K and V are one product; the weights are packed for
few rows. `FusedDecodeStep.try_build` builds it for the models that it supports. For all others, and at every step at
which the decoder has hooks, `IncrementalDecoder` takes its readable path over the same cache.

Shape legend: R rows (sentences x beams), B sentences, n = R / B beams, H heads, t tokens so far, S source positions,
d = d_model, V = vocab_size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.modules import module as torch_module

from transformer_core.cpu.dropout import Dropout
from transformer_core.cpu.few_queries import attend
from transformer_core.cpu.packed import PackedLinear, kept, may_pack
from transformer_core.decoding.kv_cache import CrossKV, KVCache, SelfKV
from transformer_core.hooks.hook_point import HookPoint, PaddingPoint, has_hooks, hooks_anywhere
from transformer_core.model.attention import MultiHeadAttention
from transformer_core.model.fast_attention import FastAttention
from transformer_core.model.layer_norm import LayerNorm
from transformer_core.model.layers import AddAndNorm, Decoder, DecoderLayer, FeedForward
from transformer_core.model.restricted import RestrictedAttention
from transformer_core.model.transformer import Transformer

Function = Callable[[Tensor], Tensor]

# Exactly these: a subclass, such as additive attention or a layer with adapters, may do anything.
_SUPPORTED_MODULES = frozenset(
    {Decoder, DecoderLayer, FastAttention, RestrictedAttention, FeedForward, AddAndNorm, HookPoint, PaddingPoint}
    | {nn.ModuleList, nn.Linear, LayerNorm, nn.LayerNorm, Dropout, nn.Identity}
)


class FusedDecodeStep:
    """The decoder of one model, packed for one search.

    Args:
        model: One that `try_build` supports.
        project: The packed output projection.
        rows: R at most.
        modules: All of the decoder.
    """

    def __init__(self, model: Transformer, project: PackedLinear, rows: int, modules: Sequence[nn.Module]) -> None:
        self._model, self._project = model, project
        self._layers = [_Layer(layer, rows) for layer in model.decoder.layers if isinstance(layer, DecoderLayer)]
        self._last_norm = _norm(model.decoder.norm)
        self._points = [module for module in modules if isinstance(module, HookPoint)]
        others = [module for module in modules if not isinstance(module, HookPoint)]
        self._hooks = [  # these dictionaries stay the same ones while hooks come and go
            torch_module._global_forward_hooks,
            torch_module._global_forward_pre_hooks,
            *(module._forward_hooks for module in others),
            *(module._forward_pre_hooks for module in others),
        ]

    @staticmethod
    def try_build(model: Transformer, project: PackedLinear, rows: int, cache: KVCache) -> FusedDecodeStep | None:
        """Pack a model for a search; None where only the readable path is right.

        Args:
            model: Any Transformer.
            project: Its output projection, packed already.
            rows: R at most.
            cache: Of the search.
        """
        if 0 in cache.source_lengths:
            return None  # a source of nothing but padding, over which softmax is NaN
        modules = list(model.decoder.modules())
        plain = all(type(module) in _SUPPORTED_MODULES and "forward" not in vars(module) for module in modules)
        weights = [weight for module in modules for weight in module._parameters.values() if weight is not None]
        alike = {(weight.dtype, weight.device) for weight in (*weights, model.output_weight)}
        if not plain or len(alike) > 1 or not all(map(may_pack, weights)):
            return None
        return FusedDecodeStep(model, project, rows, modules)

    def is_applicable(self) -> bool:
        """Return whether the decoder has no hooks of this context, and nothing needs dropout or a gradient."""
        hooks = any(self._hooks) or (hooks_anywhere() and has_hooks(*self._points))
        return not (self._model.training or torch.is_grad_enabled() or hooks)

    def __call__(self, tokens: Tensor, cache: KVCache, record: list[Tensor] | None = None) -> Tensor:
        """(R, 1) ids, the tokens generated last, -> (R, V) logits of the next; the cache grows by one position.

        `record` takes the weights as in `IncrementalDecoder.step`.
        """
        weights: list[Tensor] | None = None if record is None else []
        x = self._model.embed(tokens, first_position=cache.length)[:, 0]  # (R, d)
        forbidden = _forbidden(cache.source_mask, self._layers[0].num_heads)
        for layer, past, source in zip(self._layers, cache.next_position(), cache.sources, strict=True):
            x = layer(x, past, source, forbidden, weights)
        cache.length += 1
        if record is not None and weights:
            heads, (own, cross) = self._layers[0].num_heads, (torch.stack(weights[kind::2]) for kind in (0, 1))
            own = own.view(len(own), -1, heads, own.shape[-1])
            if own.shape[-1] < cache.length:  # a window sees the newest keys only
                own = F.pad(own, (cache.length - own.shape[-1], 0))
            record += own, cross.view(len(cross), -1, heads, *cross.shape[2:]).transpose(2, 3).flatten(1, 2)
        return self._project(self._last_norm(x))


class _Layer:
    """A decoder layer as a few products; see `DecoderLayer` for the readable twin."""

    def __init__(self, layer: DecoderLayer, rows: int) -> None:
        past, source, inner = layer.self_attention, layer.cross_attention, layer.feed_forward
        self.num_heads = past.num_heads
        # A restricted query sees itself and `window` positions before it.
        self.seen = past.window + 1 if isinstance(past, RestrictedAttention) else 0
        self.past_scale, self.source_scale = past.scale, source.scale
        d_k, d_v = (part.out_features // self.num_heads for part in (past.w_q, past.w_v))
        self.sizes = [d_k, d_k + d_v]
        self.to_queries_keys_values = _head_by_head(past, rows)
        self.self_w_o, self.cross_w_o = _packed(past.w_o, rows), _packed(source.w_o, rows)
        self.to_source_queries = _packed(source.w_q, rows)
        self.w_1, self.w_2, self.activation = _packed(inner.w_1, rows), _packed(inner.w_2, rows), inner.activation
        self.add_norms = [
            _AddAndNorm(each)
            for each in (layer.self_attention_add_norm, layer.cross_attention_add_norm, layer.feed_forward_add_norm)
        ]

    def __call__(
        self, x: Tensor, past: SelfKV, source: CrossKV, forbidden: Tensor | None, record: list[Tensor] | None
    ) -> Tensor:
        """(R, d) -> (R, d), after writing the new keys and values to the cache."""
        first, second, third = self.add_norms
        x = first.after(self.self_w_o, self.attend_to_past(first.before(x), past, record), x)
        x = second.after(self.cross_w_o, self.attend_to_source(second.before(x), source, forbidden, record), x)
        return third.after(self.w_2, self.activation(self.w_1(third.before(x))), x)

    def attend_to_past(self, x: Tensor, past: SelfKV, record: list[Tensor] | None) -> Tensor:
        """(R, d) -> (R, H * d_v)."""
        projected = self.to_queries_keys_values(x).view(-1, 1, sum(self.sizes))
        queries, key_and_value = torch.split_with_sizes(projected, self.sizes, dim=-1)  # (R * H, 1, ...)
        past.next.copy_(key_and_value)
        keys, values = past.keys, past.values
        if self.seen:
            keys, values = keys[:, :, -self.seen :], values[:, -self.seen :]
        heads = attend(queries, keys, values, self.past_scale, record=record)  # (R * H, 1, d_v)
        return heads.view(x.shape[0], -1)

    def attend_to_source(
        self, x: Tensor, source: CrossKV, forbidden: Tensor | None, record: list[Tensor] | None
    ) -> Tensor:
        """(R, d) -> (R, H * d_v); the n beams of a sentence are n queries for the same keys."""
        rows, sentences = x.shape[0], source.keys.shape[0]
        queries, (keys, values) = self.to_source_queries(x), source.side_by_side
        if rows == sentences:
            queries = queries.view(-1, 1, self.sizes[0])  # (B * H, 1, d_k)
            return attend(queries, keys, values, self.source_scale, forbidden, record).view(rows, -1)
        queries = queries.view(sentences, -1, self.num_heads, self.sizes[0])  # (B, n, H, d_k)
        queries = queries.transpose(1, 2).flatten(0, 1)  # (B * H, n, d_k)
        heads = attend(queries, keys, values, self.source_scale, forbidden, record)  # (B * H, n, d_v)
        heads = heads.view(sentences, self.num_heads, -1, heads.shape[-1]).transpose(1, 2)  # (B, n, H, d_v)
        return heads.reshape(rows, -1)


class _AddAndNorm:
    """LayerNorm(x + Sublayer(x)), or x + Sublayer(LayerNorm(x)); without residual connections nothing is added."""

    def __init__(self, add_norm: AddAndNorm) -> None:
        norm = _norm(add_norm.norm)
        self.before: Function = norm if add_norm.pre_norm else _same
        self._norm: Function = _same if add_norm.pre_norm else norm
        self._adds = add_norm.adds

    def after(self, last: PackedLinear, inner: Tensor, x: Tensor) -> Tensor:
        """Finish a sublayer.

        Args:
            last: Its last matrix.
            inner: (R, ...), what that multiplies.
            x: (R, d), the input of the sublayer.
        """
        return self._norm(last(inner, x if self._adds else None))


def _forbidden(source_mask: Tensor | None, num_heads: int) -> Tensor | None:
    """(B, 1, 1, S), True where there is text -> (B * H, 1, S), minus infinity where there is none."""
    if source_mask is None:
        return None
    scores = torch.zeros_like(source_mask, dtype=torch.float32).masked_fill(~source_mask, -math.inf)
    return scores.expand(-1, num_heads, -1, -1).flatten(0, 1)


def _packed(linear: nn.Linear, rows: int) -> PackedLinear:
    return kept(linear, [linear.weight, linear.bias], rows, lambda: PackedLinear(linear.weight, linear.bias, rows))


def _head_by_head(attention: MultiHeadAttention, rows: int) -> PackedLinear:
    """W^Q, W^K and W^V as one matrix with Q, K and V of the first head first, so that heads need no sorting later."""
    parts, heads = (attention.w_q, attention.w_k, attention.w_v), attention.num_heads

    def join() -> PackedLinear:
        weight = torch.cat([part.weight.view(heads, -1, part.in_features) for part in parts], dim=1).flatten(0, 1)
        biases = [part.bias.view(heads, -1) for part in parts if part.bias is not None]
        return PackedLinear(weight, torch.cat(biases, dim=1).flatten() if biases else None, rows)

    return kept(attention, [each for part in parts for each in (part.weight, part.bias)], rows, join)


def _norm(norm: nn.Module) -> Function:
    if not isinstance(norm, nn.LayerNorm):
        return _same
    shape, weight, bias, epsilon = tuple(norm.normalized_shape), norm.weight, norm.bias, norm.eps
    return lambda x: torch.layer_norm(x, shape, weight, bias, epsilon)


def _same(x: Tensor) -> Tensor:
    return x
