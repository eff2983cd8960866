"""A run of some edges: every receiver reads these from the run itself, and all others from another run.

Each receiver has a residual stream of its own, since each sees other edges. So this costs as many streams as a model
has receivers, and no attention more.

Shape legend: B sentences of equal length, S source and T target positions, n either, H heads, R receivers, N senders,
d = d_model, V = vocab_size.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from transformer_core.analysis.circuit.passes import Pass, compute, written, written_by_each
from transformer_core.analysis.circuit.wiring import HEAD_INPUTS, SOURCE, Sublayer, Wiring
from transformer_core.model.attention import MultiHeadAttention
from transformer_core.model.transformer import Transformer


@dataclass(frozen=True)
class Rest:
    """Values that the edges outside carry; B, S and n may be 1.

    Args:
        source: (B, S, d), the embedded source.
        outputs: Of the sub-layers of encoder and decoder, as `Step.output`.
    """

    source: Tensor
    outputs: tuple[Tensor, ...]

    @classmethod
    def of(cls, run: Pass) -> Rest:
        """Return the values of another run, such as the corrupted one."""
        return cls(run.source, tuple(each.output for each in run.steps))


@torch.no_grad()
def masked_logits(
    model: Transformer, wiring: Wiring, source: Tensor, inputs: Tensor, rest: Rest, edges: Tensor
) -> Tensor:
    """Return (B, V) logits of the next token.

    Args:
        model: Without active edits.
        wiring: Of the model.
        source: (B, S, d), the embedded source.
        inputs: (B, T) ids that the decoder reads.
        rest: What the other edges carry.
        edges: (N, R) or (B, N, R), boolean: the edges of the run itself.
    """
    kept = edges.expand(len(source), -1, -1).to(source)
    run = _MaskedRun(model, wiring, kept, dict(zip((*wiring.encoder, *wiring.decoder), rest.outputs, strict=True)))
    change = (source - rest.source)[:, :, None]
    rows = run.kept([SOURCE], [*run.read_by(wiring.encoder), *wiring.of_memory])  # (B, 1, R)
    streams = rest.source[:, :, None] + change * rows.transpose(1, 2)[:, None]
    memory = model.encoder.norm(run.through(wiring.encoder, streams, wiring.of_memory, None))
    count = len(run.read_by(wiring.decoder)) + 1
    streams = model.embed(inputs)[:, :, None].expand(-1, -1, count, -1)
    state = model.decoder.norm(run.through(wiring.decoder, streams, [wiring.receivers[-1]], memory)[:, -1:, 0])
    return model.logits(state)[:, 0].float()


class _MaskedRun:
    def __init__(self, model: Transformer, wiring: Wiring, edges: Tensor, rest: dict[Sublayer, Tensor]) -> None:
        self.model, self.wiring, self.edges, self.rest = model, wiring, edges, rest
        self.sender = {name: at for at, name in enumerate(wiring.senders)}
        self.receiver = {name: at for at, name in enumerate(wiring.receivers)}

    def read_by(self, sublayers: tuple[Sublayer, ...]) -> list[str]:
        """Return the receivers that read the residual stream of their own stack, from below."""
        return [name for each in sublayers for name in self.wiring.reads_of(each)]

    def kept(self, senders: list[str], receivers: list[str]) -> Tensor:
        """Return (B, senders, receivers), 1 for edges of the run itself."""
        rows = torch.tensor([self.sender[name] for name in senders])
        return self.edges[:, rows[:, None], torch.tensor([self.receiver[name] for name in receivers])]

    def through(
        self, sublayers: tuple[Sublayer, ...], streams: Tensor, after: list[str], memory: Tensor | None
    ) -> Tensor:
        """Run a stack with a stream for each receiver, (B, n, R, d); return the streams of the receivers after it."""
        waiting = [*self.read_by(sublayers), *after]
        for sublayer in sublayers:
            part, add_norm, count = (
                sublayer.part(self.model),
                sublayer.add_norm(self.model),
                len(self.wiring.reads_of(sublayer)),
            )
            read = streams[:, :, :count]
            if add_norm.pre_norm:
                read = add_norm.norm(read)
            output = compute(part, self._inputs(sublayer, read, memory))
            streams, waiting = streams[:, :, count:], waiting[count:]
            rest = self.rest[sublayer]
            change = written_by_each(part, output - rest)  # (B, senders, n, d)
            kept = self.kept(self.wiring.outputs_of(sublayer), waiting)  # (B, senders, R)
            total = kept.transpose(1, 2)[:, None] @ change.transpose(1, 2)  # (B, n, R, d)
            total += written(part, rest)[:, :, None]
            if add_norm.adds:
                total += streams
            streams = total if add_norm.pre_norm else add_norm.norm(total)
        return streams

    def _inputs(self, sublayer: Sublayer, read: Tensor, memory: Tensor | None) -> tuple[Tensor, ...]:
        """Return the inputs of a sub-layer, as `Step.inputs`."""
        part, heads = sublayer.part(self.model), self.wiring.heads
        if not isinstance(part, MultiHeadAttention):
            return (part.w_1(read[:, :, 0]),)
        if sublayer.kind == "cross":
            assert memory is not None
            begin = sublayer.layer * (len(HEAD_INPUTS) - 1) * heads
            keys, values = torch.split(memory[:, :, begin : begin + 2 * heads], heads, dim=2)
            queries = read
        else:
            queries, keys, values = torch.split(read, heads, dim=2)
        parts = ((queries, part.w_q), (keys, part.w_k), (values, part.w_v))
        return tuple(_projected(each, linear) for each, linear in parts)


def _projected(read: Tensor, linear: nn.Linear) -> Tensor:
    """Project what each head reads: (B, n, H, d) -> (B, H, n, d_k)."""
    heads = read.shape[2]
    weight = linear.weight.to(read.dtype).view(heads, -1, read.shape[3])  # (H, d_k, d)
    out = read.transpose(1, 2) @ weight.transpose(1, 2)
    return out if linear.bias is None else out + linear.bias.view(heads, 1, -1)
