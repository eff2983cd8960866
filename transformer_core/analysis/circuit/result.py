"""Circuit of a model on minimal pairs: scores of nodes and edges, their intervals, a null, and the strongest edges.

Shape legend: P pairs, N nodes (senders), R receivers, E edges, G groups.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import torch
from torch import Tensor

from transformer_core.analysis.circuit.curve import SHARES, Faithfulness, Others, measure
from transformer_core.analysis.circuit.edge_scores import neuron_scores
from transformer_core.analysis.circuit.pairs import Batch, MinimalPair
from transformer_core.analysis.circuit.passes import both_passes
from transformer_core.analysis.circuit.wiring import LOGITS, SOURCE, Wiring
from transformer_core.analysis.minimal_pairs import MIN_DIFFERENCE
from transformer_core.short_repr import ShortRepr
from transformer_core.translator import Translator

Method = Literal["eap", "eap-ig", "flow", "patching", "random"]
MIN_GROUPS = 10  # an interval over fewer says nothing
_DRAWS = 1_000
_LEVEL = 0.95


@dataclass(frozen=True, kw_only=True, eq=False)
class Circuit(ShortRepr):
    """Share of every node and edge in the difference between clean and corrupted sentences.

    A score is what the metric, logit(clean answer) - logit(corrupted answer), loses in nats when this one node or edge
    takes its value from the corrupted run.

    Args:
        method: How edges and nodes are scored.
        pairs: (P,) those that count.
        skipped: Reason -> number of pairs left out: `length` or `same`; see `PatchingError`.
        metrics: (P, 2) of the clean and the corrupted run, in nats.
        nodes: (P, N) scores.
        edges: (P, E) scores, in the order of `edge_names`; (P, 0) of a method that scores nodes alone.
        null: (P', N) scores with another clean sentence as the corrupted one; P' pairs have one of their length.
        wiring: Nodes and edges of the model.
    """

    method: Method
    pairs: tuple[MinimalPair, ...]
    skipped: Mapping[str, int]
    metrics: Tensor
    nodes: Tensor
    edges: Tensor
    null: Tensor
    wiring: Wiring = field(repr=False)
    translator: Translator = field(repr=False)
    batches: tuple[Batch, ...] = field(repr=False)

    @cached_property
    def node_names(self) -> tuple[str, ...]:
        """(N,) such as `source`, `cross.6.3` and `encoder.1.ffn`."""
        return self.wiring.senders

    @cached_property
    def edge_names(self) -> tuple[tuple[str, str], ...]:
        """(E,) sender and receiver, such as `encoder.1.ffn` and `cross.6.3.values`."""
        senders, receivers = self.wiring.senders, self.wiring.receivers
        return tuple((senders[a], receivers[b]) for a, b in self.wiring.exists.nonzero().tolist())

    @property
    def difference(self) -> float:
        """Mean of the clean metric minus the corrupted one, in nats."""
        return float((self.metrics[:, 0] - self.metrics[:, 1]).mean())

    @cached_property
    def groups(self) -> Tensor:
        """(P,) numbers of the groups; a pair without one is a group of its own."""
        names = [each.group or str(number) for number, each in enumerate(self.pairs)]
        order = {name: at for at, name in enumerate(dict.fromkeys(names))}
        return torch.tensor([order[name] for name in names])

    def interval(self, values: Tensor, seed: int = 0) -> Tensor:
        """Return (2, ...), the 95 % interval of the mean over pairs of (P, ...) values; groups are drawn together.

        NaN for fewer than `MIN_GROUPS` groups.
        """
        count = int(self.groups.max()) + 1
        if count < MIN_GROUPS:
            return values.new_full((2, *values.shape[1:]), torch.nan)
        means = _drawn_means(values, self.groups, seed)
        return torch.quantile(means, torch.tensor([(1 - _LEVEL) / 2, (1 + _LEVEL) / 2]), dim=0)

    @cached_property
    def null_limits(self) -> Tensor:
        """(N,) the largest mean score that a node of this sort reaches in the null, in 19 of 20 draws of pairs.

        The largest over all heads, or over all networks: of 144 heads one is always high by chance.
        """
        limits = torch.full((len(self.node_names),), torch.nan)
        if len(self.null) < MIN_GROUPS:
            return limits
        means = _drawn_means(self.null, torch.arange(len(self.null)), 0).abs()
        is_network = torch.tensor([name.endswith(".ffn") for name in self.node_names])
        is_head = ~is_network
        is_head[0] = False  # the source itself differs
        for members in (is_network, is_head):
            limits[members] = torch.quantile(means[:, members].amax(dim=1), _LEVEL)
        return limits

    @property
    def is_beyond_null(self) -> Tensor:
        """(N,) whether the mean score of a node is above what the null reaches.

        None is where the runs differ by less than half a nat: then there is no behaviour to carry.
        """
        beyond = self.nodes.mean(dim=0).abs() > self.null_limits
        return beyond & (abs(self.difference) >= MIN_DIFFERENCE)

    def strongest(self, count: int) -> Tensor:
        """Return the numbers of the edges with the largest absolute mean scores, the largest first.

        Raises ValueError if the circuit has no scores of edges.
        """
        if not self.edges.shape[1]:
            raise ValueError("the circuit has no scores of edges")
        return self.edges.mean(dim=0).abs().argsort(descending=True, stable=True)[:count]

    def mask(self, chosen: Tensor) -> Tensor:
        """Return (N, R), True for edges of these numbers."""
        places = self.wiring.exists.nonzero()[chosen]
        mask = torch.zeros_like(self.wiring.exists)
        mask[places[:, 0], places[:, 1]] = True
        return mask

    def graph(self, edges: int = 50) -> dict[tuple[str, str], float]:
        """Return the strongest edges that lie on a way from the source to the logits: sender and receiver -> nats."""
        scores = self.edges.mean(dim=0)
        names = {self.edge_names[at]: float(scores[at]) for at in self.strongest(edges).tolist()}
        forward, backward = {SOURCE}, {LOGITS}
        for _ in self.wiring.senders:
            forward |= {node_of(receiver) for sender, receiver in names if sender in forward}
            backward |= {sender for sender, receiver in names if node_of(receiver) in backward}
        return {
            (sender, receiver): score
            for (sender, receiver), score in names.items()
            if sender in forward and node_of(receiver) in backward
        }

    def overlap(self, other: Circuit, edges: int = 50) -> float:
        """Return the share of the strongest edges that two circuits have in common (Jaccard index)."""
        first, second = ({self.edge_names[at] for at in each.strongest(edges).tolist()} for each in (self, other))
        return len(first & second) / len(first | second)

    def split_half(self, edges: int = 50) -> float:
        """Return the overlap of the strongest edges of both halves of the groups."""
        first, second = (replace(self, edges=self.edges[self.groups % 2 == half]) for half in (0, 1))
        return first.overlap(second, edges)

    @torch.no_grad()
    def neurons(self, network: str, steps: int = 5) -> Tensor:
        """Share the score of a network, such as `decoder.6.ffn`, out among its neurons, as `eap-ig` scores nodes.

        Args:
            network: Its name.
            steps: Points between the two embedded sentences.

        Returns:
            (P, d_ff) in nats.

        Raises:
            ValueError: The model has no such network.
        """
        names = [each.name for each in (*self.wiring.encoder, *self.wiring.decoder)]
        if network not in names or not network.endswith(".ffn"):
            raise ValueError(f"{network!r} is no network of this model")
        model, scores = self.translator.model, dict[int, Tensor]()
        for batch in self.batches:
            runs = both_passes(model, self.wiring, batch)
            rows = neuron_scores(model, self.wiring, *runs, batch, number=names.index(network), steps=steps)
            scores |= dict(zip(batch.numbers, rows.cpu(), strict=True))
        return torch.stack([scores[number] for number in sorted(scores)])

    def faithfulness(
        self,
        *,
        shares: Sequence[float] = SHARES,
        others: Others = "corrupted",
        held_out: bool = False,
        random_orders: int = 3,
        seed: int = 0,
        should_stop: Callable[[], bool] | None = None,
    ) -> Faithfulness:
        """Run the model with the strongest edges alone, of growing numbers, and with as many random ones.

        Args:
            shares: Of the edges, between 0 and 1.
            others: See `Faithfulness`.
            held_out: Whether to order edges by the scores of one half of the groups, and to run the pairs of the other.
            random_orders: Number of random orders.
            seed: Of the random orders.
            should_stop: Called before every batch.

        Raises:
            ValueError: The circuit has no scores of edges, a share is not between 0 and 1, or there is one group alone.
            DecodingStopped: `should_stop` returned True.
        """
        return measure(self, shares, others, held_out, random_orders, seed, should_stop)

    def columns(self) -> dict[str, Any]:
        """Return a table of the nodes, the highest first."""
        mean, (low, high) = self.nodes.mean(dim=0), self.interval(self.nodes)
        order = mean.abs().argsort(descending=True, stable=True).tolist()
        values = {"score": mean, "low": low, "high": high, "share": mean / self.difference, "null": self.null_limits}
        return {"node": [self.node_names[at] for at in order]} | {
            name: [float(each[at]) for at in order] for name, each in values.items()
        }


def node_of(receiver: str) -> str:
    """Return the node that a receiver belongs to: `cross.6.3` of `cross.6.3.keys`."""
    name, _, point = receiver.rpartition(".")
    return name if point in ("queries", "keys", "values") else receiver


def _drawn_means(values: Tensor, groups: Tensor, seed: int) -> Tensor:
    """Return (draws, ...), means of (P, ...) values over groups drawn with replacement."""
    count = int(groups.max()) + 1
    drawn = torch.randint(count, (_DRAWS, count), generator=torch.Generator().manual_seed(seed))
    weights = torch.zeros(_DRAWS, count).scatter_add_(1, drawn, torch.ones(_DRAWS, count))
    sums = torch.zeros(count, *values.shape[1:]).index_add_(0, groups, values)
    sizes = torch.bincount(groups, minlength=count).float()
    totals = (weights @ sums.flatten(1)).view(_DRAWS, *values.shape[1:])
    return totals / (weights @ sizes).view(-1, *[1] * (values.dim() - 1))
