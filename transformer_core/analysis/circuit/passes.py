"""One pass of a model, sub-layer by sub-layer, with every value that an edge begins or ends at.

Shape legend: B sentences of equal length, S source and T target positions, n either, H heads, d = d_model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from transformer_core.analysis.circuit.pairs import Batch
from transformer_core.analysis.circuit.wiring import Sublayer, Wiring
from transformer_core.analysis.frozen import deviation
from transformer_core.hooks.hook_sites import Site
from transformer_core.hooks.points import edit
from transformer_core.model.attention import MultiHeadAttention
from transformer_core.model.layers import FeedForward
from transformer_core.model.transformer import Transformer

Replace = Callable[[Sublayer, Tensor], Tensor]  # output of a sub-layer -> what goes on instead


class Step(NamedTuple):
    """Values of a sub-layer.

    Args:
        sublayer: The sub-layer.
        before: (B, n, d), the residual stream that it read.
        inputs: Queries, keys and values of its heads, (B, H, n, d_k | d_v) each; or the network's inner values before
            the activation, (B, n, d_ff).
        output: (B, H, n, d_v) of its heads, or (B, n, d) of the network.
        total: (B, n, d), the sum of the residual connection, before any LayerNorm.
    """

    sublayer: Sublayer
    before: Tensor
    inputs: tuple[Tensor, ...]
    output: Tensor
    total: Tensor


@dataclass(frozen=True)
class Pass:
    """Pass over B sentences and what their translations begin with.

    Args:
        source: (B, S, d), the embedded source.
        encoder: Its sub-layers, from below.
        decoder: Its sub-layers, from below.
        memory: (B, S, d), before a final LayerNorm of the encoder.
        state: (B, T, d), before a final LayerNorm of the decoder.
        logits: (B, V) of the next token.
    """

    source: Tensor
    encoder: tuple[Step, ...]
    decoder: tuple[Step, ...]
    memory: Tensor
    state: Tensor
    logits: Tensor

    @property
    def steps(self) -> Iterator[Step]:
        """All sub-layers."""
        yield from self.encoder
        yield from self.decoder


def run_pass(
    model: Transformer,
    wiring: Wiring,
    source: Tensor,
    inputs: Tensor,
    *,
    frozen: bool = False,
    replace: Replace = lambda _, output: output,
) -> Pass:
    """Run the model.

    Args:
        model: Without active edits.
        wiring: Of the model.
        source: (B, S, d), the embedded source.
        inputs: (B, T) ids that the decoder reads.
        frozen: Whether gradients pass attention weights, standard deviations and gates as constants.
        replace: Changes the output of each sub-layer.
    """
    with edit(model, "weights", _constant) if frozen else nullcontext():
        encoder, memory = _stack(model, wiring.encoder, source, None, frozen, replace)
        read = _normed(memory, model.encoder.norm, frozen)
        decoder, state = _stack(model, wiring.decoder, model.embed(inputs), read, frozen, replace)
    logits = model.logits(_normed(state[:, -1:], model.decoder.norm, frozen))[:, 0].float()
    return Pass(source, encoder, decoder, memory, state, logits)


@torch.no_grad()
def both_passes(model: Transformer, wiring: Wiring, batch: Batch) -> tuple[Pass, Pass]:
    """Run the model over the clean and the corrupted sentences."""
    embedded = (model.embed(ids, of_source=True) for ids in (batch.clean, batch.corrupted))
    clean, corrupted = (run_pass(model, wiring, source, batch.inputs) for source in embedded)
    return clean, corrupted


def _stack(
    model: Transformer,
    sublayers: tuple[Sublayer, ...],
    x: Tensor,
    memory: Tensor | None,
    frozen: bool,
    replace: Replace,
) -> tuple[tuple[Step, ...], Tensor]:
    steps = []
    for sublayer in sublayers:
        part, add_norm = sublayer.part(model), sublayer.add_norm(model)
        read = _normed(x, add_norm.norm, frozen) if add_norm.pre_norm else x
        inputs = project(part, read, memory if sublayer.kind == "cross" else read)  # type: ignore[arg-type]
        output = replace(sublayer, compute(part, inputs, frozen))
        out = written(part, output)
        total = x + out if add_norm.adds else out
        steps.append(Step(sublayer, x, inputs, output, total))
        x = total if add_norm.pre_norm else _normed(total, add_norm.norm, frozen)
    return tuple(steps), x


def project(part: MultiHeadAttention | FeedForward, read: Tensor, memory: Tensor) -> tuple[Tensor, ...]:
    """Return the inputs of a sub-layer, as `Step.inputs`, from (B, n, d) for its queries and for its keys."""
    if isinstance(part, FeedForward):
        return (part.w_1(read),)
    return (part.project_queries(read), *part.project_keys_and_values(memory))


def compute(part: MultiHeadAttention | FeedForward, inputs: tuple[Tensor, ...], frozen: bool = False) -> Tensor:
    """Return the output of a sub-layer, as `Step.output`."""
    if not isinstance(part, FeedForward):
        queries, keys, values = inputs
        return part.compute_heads(queries, keys, values, None)
    (inner,) = inputs
    active = part.activation(inner)
    if frozen:  # of ReLU the gate is 0 or 1
        active = inner * torch.where(inner == 0, 0.0, active / inner).detach()
    out: Tensor = part.w_2(active)
    return out


def written(part: MultiHeadAttention | FeedForward, output: Tensor) -> Tensor:
    """Return what a sub-layer adds to the residual stream, (B, n, d)."""
    if isinstance(part, FeedForward):
        return output
    out: Tensor = part.w_o(output.transpose(1, 2).flatten(2))
    return out


def written_by_each(part: MultiHeadAttention | FeedForward, output: Tensor) -> Tensor:
    """Return the same from each sender, without biases: (B, senders, n, d)."""
    if isinstance(part, FeedForward):
        return output[:, None]
    heads = part.w_o.weight.to(output.dtype).view(-1, part.num_heads, output.shape[-1])  # (d, H, d_v)
    return torch.einsum("bhnv,dhv->bhnd", output, heads)


def _normed(x: Tensor, norm: nn.Module, frozen: bool) -> Tensor:
    """Apply a LayerNorm, if there is one."""
    if not frozen or not isinstance(norm, nn.LayerNorm):
        out: Tensor = norm(x)
        return out
    return (x - x.mean(dim=-1, keepdim=True)) / deviation(x, norm).detach() * norm.weight + norm.bias


def _constant(value: Tensor, _site: Site) -> Tensor:
    return value.detach()
