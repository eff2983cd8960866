"""Nodes of a model and the edges between them: what writes into the residual stream, and what reads it.

Senders are the embeddings of the source, the heads and the feed-forward networks. Receivers are the queries, keys and
values of each head, the feed-forward networks, and the logits. An edge is the direct way from a sender to a receiver,
along residual connections alone (Syed et al. 2023).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from transformer_core.analysis.frozen import Stack
from transformer_core.analysis.teacher_forced_run import SUBLAYERS
from transformer_core.attention_maps import Kind
from transformer_core.model.attention import MultiHeadAttention
from transformer_core.model.layers import AddAndNorm, FeedForward
from transformer_core.model.transformer import Transformer

SOURCE, LOGITS = "source", "logits"
HEAD_INPUTS = ("queries", "keys", "values")


class Sublayer(NamedTuple):
    """Attention or feed-forward network of a layer.

    Args:
        stack: `encoder` or `decoder`.
        kind: Of its attention, or `ffn`.
        layer: Index of the layer.
    """

    stack: Stack
    kind: Kind | Literal["ffn"]
    layer: int

    @property
    def is_attention(self) -> bool:
        """Whether it has heads."""
        return self.kind != "ffn"

    @property
    def name(self) -> str:
        """Name of its attention, such as `cross.6`, or of its network, such as `decoder.6.ffn`."""
        return f"{self.kind}.{self.layer + 1}" if self.is_attention else f"{self.stack}.{self.layer + 1}.ffn"

    def part(self, model: Transformer) -> MultiHeadAttention | FeedForward:
        """Return the module."""
        name = "feed_forward" if self.kind == "ffn" else SUBLAYERS[self.kind]
        return self._layer(model).get_submodule(name)  # type: ignore[return-value]

    def add_norm(self, model: Transformer) -> AddAndNorm:
        """Return its residual connection and LayerNorm."""
        name = "feed_forward" if self.kind == "ffn" else SUBLAYERS[self.kind]
        return self._layer(model).get_submodule(f"{name}_add_norm")  # type: ignore[return-value]

    def _layer(self, model: Transformer) -> nn.Module:
        return (model.encoder if self.stack == "encoder" else model.decoder).layers[self.layer]


@dataclass(frozen=True)
class Wiring:
    """All nodes and edges of a model of this many layers and heads.

    Args:
        layers: L.
        heads: H.
    """

    layers: int
    heads: int
    encoder: tuple[Sublayer, ...] = field(init=False)
    decoder: tuple[Sublayer, ...] = field(init=False)

    def __post_init__(self) -> None:
        numbers = range(self.layers)
        encoder = [Sublayer("encoder", kind, layer) for layer in numbers for kind in ("encoder", "ffn")]
        decoder = [Sublayer("decoder", kind, layer) for layer in numbers for kind in ("decoder", "cross", "ffn")]
        object.__setattr__(self, "encoder", tuple(encoder))
        object.__setattr__(self, "decoder", tuple(decoder))

    @cached_property
    def senders(self) -> tuple[str, ...]:
        """Names in the order of computation: `source`, heads such as `cross.6.8`, networks such as `decoder.6.ffn`."""
        return (SOURCE, *(name for each in (*self.encoder, *self.decoder) for name in self.outputs_of(each)))

    @cached_property
    def receivers(self) -> tuple[str, ...]:
        """Names such as `cross.6.8.keys`, `decoder.6.ffn` and `logits`."""
        return (*(name for each in (*self.encoder, *self.decoder) for name in self.inputs_of(each)), LOGITS)

    def outputs_of(self, sublayer: Sublayer) -> list[str]:
        """Return the senders of a sub-layer: its heads, or its network."""
        if not sublayer.is_attention:
            return [sublayer.name]
        return [f"{sublayer.name}.{head + 1}" for head in range(self.heads)]

    def inputs_of(self, sublayer: Sublayer) -> list[str]:
        """Return the receivers of a sub-layer: queries of all heads, then keys, then values; or its network."""
        if not sublayer.is_attention:
            return [sublayer.name]
        return [f"{name}.{point}" for point in HEAD_INPUTS for name in self.outputs_of(sublayer)]

    def reads_of(self, sublayer: Sublayer) -> list[str]:
        """Return its receivers that read the residual stream of their own stack."""
        names = self.inputs_of(sublayer)
        return names[: self.heads] if sublayer.kind == "cross" else names

    @cached_property
    def of_memory(self) -> list[str]:
        """Receivers that read the encoder's output: keys and values of encoder-decoder attention."""
        return [name for each in self.decoder if each.kind == "cross" for name in self.inputs_of(each)[self.heads :]]

    @cached_property
    def exists(self) -> Tensor:
        """(senders, receivers): whether the receiver reads a residual stream that the sender writes into."""
        senders, receivers = len(self.senders), len(self.receivers)
        below = torch.zeros(senders, receivers, dtype=torch.bool)
        sender = {name: at for at, name in enumerate(self.senders)}
        receiver = {name: at for at, name in enumerate(self.receivers)}
        for stack, start in ((self.encoder, [SOURCE]), (self.decoder, [])):
            written = list(start)
            for each in stack:
                here = [receiver[name] for name in self.reads_of(each)]
                for name in written:
                    below[sender[name], here] = True
                written += self.outputs_of(each)
            if stack is self.encoder:
                of_memory = [receiver[name] for name in self.of_memory]
                for name in written:
                    below[sender[name], of_memory] = True
        below[[sender[name] for name in written], receiver[LOGITS]] = True
        return below
