"""Scores of all edges from gradients: edge attribution patching, with integrated gradients and with the flow's.

The difference of a sender's output between two runs, times the gradient of the metric at a receiver's input, carried
down the residual connections and their LayerNorms (Syed et al. 2023; Hanna et al. 2024).

Shape legend: B pairs of equal length, S source and T target positions, n either, H heads, R receivers, N senders,
d = d_model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

from transformer_core.analysis.circuit.pairs import Batch, metric_of
from transformer_core.analysis.circuit.passes import Pass, Step, run_pass, written_by_each
from transformer_core.analysis.circuit.wiring import LOGITS, Sublayer, Wiring
from transformer_core.analysis.frozen import deviation
from transformer_core.model.attention import MultiHeadAttention
from transformer_core.model.layers import FeedForward
from transformer_core.model.transformer import Transformer


def gradient_scores(
    model: Transformer,
    wiring: Wiring,
    clean: Pass,
    corrupted: Pass,
    batch: Batch,
    nodes_only: bool = False,
    *,
    steps: int,
    frozen: bool = False,
) -> tuple[Tensor | None, Tensor]:
    """Estimate what the metric loses when one edge, or one node, takes its value from the corrupted run.

    Args:
        model: Without active edits.
        wiring: Of the model.
        clean: Pass over the clean sentences.
        corrupted: Pass over the corrupted ones.
        batch: The pairs; the metric is the difference of the logits of their answers.
        nodes_only: Whether to leave out the edges.
        steps: Points between the two embedded sentences at which gradients are taken; 0 takes the clean one alone.
        frozen: See `run_pass`.

    Returns:
        (B, N, R) of edges, or None, and (B, N) of nodes.
    """
    differences = [
        written_by_each(each.sublayer.part(model), each.output - other.output)
        for each, other in zip(clean.steps, corrupted.steps, strict=True)
    ]
    embedded = clean.source - corrupted.source
    count = max(1, steps)
    edges = None if nodes_only else embedded.new_zeros(len(embedded), len(wiring.senders), len(wiring.receivers))
    nodes = embedded.new_zeros(len(embedded), len(wiring.senders))
    for run, metric in _runs(model, wiring, clean, corrupted, batch, steps, frozen):
        reads = [value for each in run.steps for value in each.inputs]
        outputs = [each.output for each in run.steps]
        gradients = iter(torch.autograd.grad(metric, [*reads, *outputs, run.source], materialize_grads=True))
        at_inputs = [tuple(next(gradients) for _ in each.inputs) for each in run.steps]
        with torch.no_grad():
            nodes += _node_scores(clean, corrupted, [next(gradients) for _ in outputs], next(gradients)) / count
            if edges is not None:
                walk = _Walk(model, wiring, run, at_inputs, frozen)
                edges += walk.scores(differences, embedded, batch.answers) / count
    return edges, nodes


def neuron_scores(
    model: Transformer, wiring: Wiring, clean: Pass, corrupted: Pass, batch: Batch, *, number: int, steps: int
) -> Tensor:
    """Share the score of a network out among its neurons: (B, d_ff).

    The arguments are as in `gradient_scores`; `number` is that of the network among all sub-layers.
    """
    first, second = (list(each.steps)[number] for each in (clean, corrupted))
    network = first.sublayer.part(model)
    assert isinstance(network, FeedForward)
    change = network.activation(first.inputs[0]) - network.activation(second.inputs[0])
    scores = torch.zeros_like(change[:, 0])
    for run, metric in _runs(model, wiring, clean, corrupted, batch, steps):
        (gradient,) = torch.autograd.grad(metric, [list(run.steps)[number].output])
        scores += (change * (gradient @ network.w_2.weight)).sum(dim=1) / max(1, steps)
    return scores


def _runs(
    model: Transformer, wiring: Wiring, clean: Pass, corrupted: Pass, batch: Batch, steps: int, frozen: bool = False
) -> Iterator[tuple[Pass, Tensor]]:
    """Run points between the two embedded sentences; yield each pass and the sum of its metrics."""
    embedded = clean.source - corrupted.source
    for step in range(max(1, steps)):
        share = (step + 0.5) / steps if steps else 0.0
        with torch.enable_grad():
            source = (clean.source - share * embedded).detach().requires_grad_()
            run = run_pass(model, wiring, source, batch.inputs, frozen=frozen)
            metric = metric_of(run.logits, batch.answers).sum()
        yield run, metric


@torch.no_grad()
def direct_scores(model: Transformer, wiring: Wiring, clean: Pass, corrupted: Pass, answers: Tensor) -> Tensor:
    """Share the whole difference of the metric out among the edges into the logits: (B, N), exactly.

    The arguments are as in `gradient_scores`. Unlike the effects of edges patched alone, these sum to the whole.
    """
    result = clean.source.new_zeros(len(clean.source), len(wiring.senders))
    gradients = _at_logits(model, clean, answers)
    _carry(gradients, model.decoder.norm, clean.state, other=corrupted.state)
    end = len(wiring.senders)
    for step, other in zip(reversed(clean.decoder), reversed(corrupted.decoder), strict=True):
        part, add_norm = step.sublayer.part(model), step.sublayer.add_norm(model)
        if not add_norm.pre_norm:
            _carry(gradients, add_norm.norm, step.total, other=other.total)
        change = written_by_each(part, step.output - other.output)  # (B, senders, n, d)
        begin = end - change.shape[1]
        result[:, begin:end] = torch.einsum("bhnd,bnd->bh", change, gradients[:, :, 0])
        if not add_norm.adds:
            break  # nothing passes by
        end = begin
    return result


def _at_logits(model: Transformer, run: Pass, answers: Tensor) -> Tensor:
    """Return the gradient of the metric at the last state, (B, T, 1, d)."""
    weight = model.output_weight.to(run.state.dtype)
    gradients = run.state.new_zeros(*run.state.shape[:2], 1, run.state.shape[2])
    gradients[:, -1, 0] = weight[answers[:, 0]] - weight[answers[:, 1]]
    return gradients


def _node_scores(clean: Pass, corrupted: Pass, gradients: Sequence[Tensor], at_source: Tensor) -> Tensor:
    """Return (B, N) products of the change of each output and the gradient at it."""
    columns = [((clean.source - corrupted.source) * at_source).sum(dim=(1, 2))[:, None]]
    for each, other, gradient in zip(clean.steps, corrupted.steps, gradients, strict=True):
        product = (each.output - other.output) * gradient
        columns.append(product.sum(dim=(-2, -1)) if each.sublayer.is_attention else product.sum(dim=(1, 2))[:, None])
    return torch.cat(columns, dim=1)


class _Walk:
    """Walk down the residual stream with the gradients at all inputs, which meet the differences of all outputs."""

    def __init__(
        self, model: Transformer, wiring: Wiring, run: Pass, gradients: Sequence[tuple[Tensor, ...]], frozen: bool
    ) -> None:
        self.model, self.wiring, self.run, self.frozen = model, wiring, run, frozen
        self.gradients = dict(zip((each.sublayer for each in run.steps), gradients, strict=True))
        self.receiver = {name: at for at, name in enumerate(wiring.receivers)}
        self.sender = {name: at for at, name in enumerate(wiring.senders)}

    def scores(self, differences: Sequence[Tensor], embedded: Tensor, answers: Tensor) -> Tensor:
        """Return (B, N, R); arguments as in `gradient_scores`."""
        run, wiring = self.run, self.wiring
        result = embedded.new_zeros(len(embedded), len(wiring.senders), len(wiring.receivers))
        changes = dict(zip((each.sublayer for each in run.steps), differences, strict=True))
        top = _at_logits(self.model, run, answers)
        _carry(top, self.model.decoder.norm, run.state, self.frozen)
        self._down(run.decoder, top, [self.receiver[LOGITS]], changes, result)

        crosses = [each.sublayer for each in run.decoder if each.sublayer.kind == "cross"]
        memory = torch.cat([self._at_reads(each, of_memory=True) for each in crosses], dim=2)
        columns = [self.receiver[name] for name in wiring.of_memory]
        _carry(memory, self.model.encoder.norm, run.memory, self.frozen)
        gradients, columns = self._down(run.encoder, memory, columns, changes, result)
        result[:, 0, columns] = torch.einsum("bnrd,bnd->br", gradients, embedded)
        return result

    def _down(
        self,
        steps: Sequence[Step],
        top: Tensor,
        columns: list[int],
        changes: dict[Sublayer, Tensor],
        result: Tensor,
    ) -> tuple[Tensor, list[int]]:
        """Walk down a stack from the gradients above it, (B, n, R, d), of these receivers; return those below it."""
        room = sum(len(self.wiring.reads_of(each.sublayer)) for each in steps)
        gradients = torch.cat([top, top.new_zeros(*top.shape[:2], room, top.shape[3])], dim=2)
        columns, begin = list(columns), 0
        for step in reversed(steps):
            sublayer, add_norm = step.sublayer, step.sublayer.add_norm(self.model)
            above = gradients[:, :, begin : len(columns)]
            if not add_norm.pre_norm:
                _carry(above, add_norm.norm, step.total, self.frozen)
            rows = [self.sender[name] for name in self.wiring.outputs_of(sublayer)]
            change = changes[sublayer].transpose(1, 2)  # (B, n, senders, d)
            result[:, torch.tensor(rows)[:, None], columns[begin:]] = (change @ above.transpose(2, 3)).sum(dim=1)
            if not add_norm.adds:
                begin = len(columns)  # nothing passes by
            here = self._at_reads(sublayer)
            if add_norm.pre_norm:
                _carry(here, add_norm.norm, step.before, self.frozen)
            gradients[:, :, len(columns) : len(columns) + here.shape[2]] = here
            columns += [self.receiver[name] for name in self.wiring.reads_of(sublayer)]
        return gradients[:, :, begin : len(columns)], columns[begin:]

    def _at_reads(self, sublayer: Sublayer, *, of_memory: bool = False) -> Tensor:
        """Return the gradients at what its receivers read, (B, n, receivers, d)."""
        module, gradients = sublayer.part(self.model), self.gradients[sublayer]
        if isinstance(module, FeedForward):
            out: Tensor = gradients[0] @ module.w_1.weight.to(gradients[0].dtype)
            return out[:, :, None]
        part = slice(1, 3) if of_memory else slice(0, 1 if sublayer.kind == "cross" else 3)
        projections = [module.w_q, module.w_k, module.w_v]
        pairs = zip(gradients[part], projections[part], strict=True)
        return torch.cat([_below(gradient, layer, module) for gradient, layer in pairs], dim=2)


def _below(gradient: Tensor, layer: nn.Linear, attention: MultiHeadAttention) -> Tensor:
    """Carry gradients at the projections of all heads down to what they read: (B, H, n, d_k) -> (B, n, H, d)."""
    weight = layer.weight.to(gradient.dtype).view(attention.num_heads, gradient.shape[-1], -1)
    return (gradient @ weight).transpose(1, 2)


def _carry(
    gradients: Tensor, norm: nn.Module, total: Tensor, frozen: bool = False, other: Tensor | None = None
) -> None:
    """Carry gradients, (B, n, R, d), down through the LayerNorm of a sum, (B, n, d), in place.

    Between two sums the secant takes the place of the gradient: its product with their difference is the difference of
    the two results, exactly. For LayerNorm it has a closed form, since the variance is a square.
    """
    if not isinstance(norm, nn.LayerNorm):
        return
    other = total if other is None else other
    first, second = (deviation(each, norm).to(total.dtype) for each in (total, other))
    middle = (total + other) / 2  # (B, n, d)
    middle = middle - middle.mean(dim=-1, keepdim=True)
    scale = (1 / first + 1 / second) / 2
    down, up = [torch.ones_like(middle)], [torch.ones_like(middle)]  # of the mean, and of the variance
    if not frozen:
        down.append(middle)
        up.append(middle * 2 / (first * second * (first + second) * scale))
    gradients *= (norm.weight * scale)[:, :, None]
    gradients -= gradients @ (torch.stack(down, dim=3) / total.shape[-1]) @ torch.stack(up, dim=2)
