"""Faithfulness of a circuit: how much of the behaviour is left when all other edges take another run's values.

The share kept is (m(circuit) - m(nothing)) / (m(model) - m(nothing)), as edges are added in the order of their scores;
its area is CPR, and the area between it and 1 is CMD (Mueller et al. 2025).

Shape legend: K sizes, O random orders, N nodes, R receivers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import torch
from torch import Tensor

from transformer_core.analysis.circuit.masked_run import Rest, masked_logits
from transformer_core.analysis.circuit.pairs import metric_of
from transformer_core.analysis.circuit.passes import both_passes
from transformer_core.analysis.teacher_forced_run import stop_check
from transformer_core.short_repr import ShortRepr

if TYPE_CHECKING:
    from transformer_core.analysis.circuit.result import Circuit

SHARES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)  # of the edges, as in the benchmark
Others = Literal["corrupted", "mean"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Faithfulness(ShortRepr):
    """Share of the behaviour that circuits of growing size keep.

    Args:
        others: What the other edges carry: values of the corrupted run, or means over all runs.
        pairs: Number of pairs on which it was measured.
        held_out: Whether the scores are of other pairs than these.
        shares: (K,) of the edges, from 0 to 1.
        edges: (K,) numbers of edges.
        kept: (K,) share of the behaviour; 0 without any edge, 1 with all.
        random: (O, K) of as many random edges.
        whole: Mean metric of the clean run, in nats.
        nothing: Mean metric without any edge, in nats.
    """

    others: Others
    pairs: int
    held_out: bool
    shares: tuple[float, ...]
    edges: tuple[int, ...]
    kept: Tensor
    random: Tensor
    whole: float
    nothing: float

    @property
    def cpr(self) -> float:
        """Area under the curve of what is kept (circuit performance ratio): more is better."""
        return float(torch.trapezoid(self.kept, torch.tensor(self.shares)))

    @property
    def cmd(self) -> float:
        """Area between the curve and 1 (circuit-model distance): less is better."""
        return float(torch.trapezoid((1 - self.kept).abs(), torch.tensor(self.shares)))

    def smallest(self, share: float = 0.8) -> int | None:
        """Return the number of edges of the smallest circuit that keeps this share; None if none does."""
        sizes = (edges for edges, kept in zip(self.edges, self.kept.tolist(), strict=True) if kept >= share)
        return next(sizes, None)


@torch.no_grad()
def measure(
    circuit: Circuit,
    shares: Sequence[float],
    others: Others,
    held_out: bool,
    random_orders: int,
    seed: int,
    should_stop: Callable[[], bool] | None,
) -> Faithfulness:
    """Measure the curve of a circuit; see `Circuit.faithfulness`."""
    if others not in get_args(Others):
        raise ValueError(f"others is {others!r}, but must be one of {', '.join(get_args(Others))}")
    circuit.strongest(1)  # refuses a circuit without edges
    if wrong := [share for share in shares if not 0 < share < 1]:
        raise ValueError(f"share is {wrong[0]}, but must be between 0 and 1")
    model, wiring, check = circuit.translator.model, circuit.wiring, stop_check(should_stop)
    count, generator = circuit.edges.shape[1], torch.Generator().manual_seed(seed)
    runs, scores = set(range(len(circuit.pairs))), circuit.edges
    if held_out:
        half = circuit.groups % 2 == 1
        if not half.any():
            raise ValueError("a held-out half needs two groups of pairs")
        runs, scores = set((~half).nonzero()[:, 0].tolist()), circuit.edges[half]
    order = scores.mean(dim=0).abs().argsort(descending=True, stable=True)
    orders = [order, *(torch.randperm(count, generator=generator) for _ in range(random_orders))]
    sizes = [max(1, round(share * count)) for share in shares]
    masks = [torch.zeros_like(wiring.exists)]
    masks += [circuit.mask(each[:size]) for each in orders for size in sizes]

    totals = torch.zeros(len(masks) + 1, dtype=torch.float64)
    means = _means(circuit) if others == "mean" else None
    for batch in circuit.batches:
        rows = [at for at, number in enumerate(batch.numbers) if number in runs]
        if not rows:
            continue
        part = batch.part(rows)
        clean, corrupted = both_passes(model, wiring, part)
        rest = means or Rest.of(corrupted)
        totals[-1] += float(metric_of(clean.logits, part.answers).sum())
        for at, mask in enumerate(masks):
            check()
            logits = masked_logits(model, wiring, clean.source, part.inputs, rest, mask)
            totals[at] += float(metric_of(logits, part.answers).sum())
    nothing, *measured, whole = (totals / len(runs)).tolist()
    kept = (torch.tensor(measured).view(len(orders), len(sizes)) - nothing) / (whole - nothing)
    ends = torch.tensor([[0.0, 1.0]]).expand(len(orders), -1)
    kept = torch.cat([ends[:, :1], kept, ends[:, 1:]], dim=1)
    return Faithfulness(
        others=others,
        pairs=len(runs),
        held_out=held_out,
        shares=(0.0, *shares, 1.0),
        edges=(0, *sizes, count),
        kept=kept[0],
        random=kept[1:],
        whole=whole,
        nothing=nothing,
    )


def _means(circuit: Circuit) -> Rest:
    """Return the means of the embedded source and of all outputs over the positions of all runs."""
    model, sums, count = circuit.translator.model, list[Tensor](), 0
    for batch in circuit.batches:
        for run in both_passes(model, circuit.wiring, batch):
            # One vector for each sender, of all positions and sentences of the batch.
            values = [run.source, *(each.output for each in run.steps)]
            means = [each.mean(dim=(0, -2), keepdim=True) * len(run.source) for each in values]
            sums = [a + b for a, b in zip(sums, means, strict=True)] if sums else means
            count += len(run.source)
    source, *outputs = (each / count for each in sums)
    return Rest(source, tuple(outputs))
