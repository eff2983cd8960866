"""The flow of one token: its logit as a sum over words, over biases, and over the edges of all heads.

Shape legend: L layers, H heads, n positions, S source and T target positions, Q queries, K keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from transformer_core.analysis.flow.backward import MAX_NEURONS
from transformer_core.analysis.flow.graph import Graph, Ways
from transformer_core.analysis.frozen import Stack
from transformer_core.analysis.teacher_forced_run import TeacherForcedRun
from transformer_core.attention_maps import KINDS, FloatArray, Kind
from transformer_core.extras import extra
from transformer_core.head import Head
from transformer_core.short_repr import ShortRepr

if TYPE_CHECKING:
    import networkx
    import pandas

Side = Literal["source", "inputs"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Flow(ShortRepr):
    """The logit of a token, minus the mean over the vocabulary or the logit of another token, as sums of parts.

    Parts are signed, in units of the logit: positive ones speak for the token. Positions count from 0.

    Args:
        run: The teacher-forced run.
        position: Number of the generated token.
        token: The explained token.
        against: The token that it is compared with; None for the mean over the vocabulary.
        logit: The sum of `source`, `inputs` and `biases`.
        words: Parts of the embedded words: `source` (S,) and `inputs` (T,), the tokens that the decoder reads.
        positions: Parts of their positional encodings.
        biases: Part of all biases: of projections, of every LayerNorm, and of the output.
        maps: Kind of attention -> (L, H, Q, K), flow of every edge.
        states: `encoder` and `decoder` -> (L + 1, n), of the inputs of all layers and the last output.
        residuals: `encoder` and `decoder` -> (L, n), of what passes by a layer's self-attention.
        memory: (L + 1, S), of the encoder's output through encoder-decoder attention from this layer up.
        biases_above: (2 L + 1,), of the biases that enter above each height; see `at`.
        top_neurons: Stack, layer, position, neuron and flow of those that contribute most.
    """

    run: TeacherForcedRun
    position: int
    token: str
    against: str | None
    logit: float
    words: Mapping[Side, FloatArray]
    positions: Mapping[Side, FloatArray]
    biases: float
    maps: Mapping[Kind, FloatArray]
    states: Mapping[Stack, FloatArray]
    residuals: Mapping[Stack, FloatArray]
    memory: FloatArray
    biases_above: FloatArray
    top_neurons: tuple[tuple[Stack, int, int, int, float], ...]

    @property
    def source(self) -> FloatArray:
        """(S,) parts of the source tokens, word and position together."""
        return self.words["source"] + self.positions["source"]

    @property
    def inputs(self) -> FloatArray:
        """(T,) parts of the tokens that the decoder reads, word and position together."""
        return self.words["inputs"] + self.positions["inputs"]

    @cached_property
    def edges(self) -> Mapping[str, FloatArray]:
        """Head -> (Q, K), flow of its edges, such as `edges["cross.6.8"]`."""
        return {
            str(Head(kind, layer, head)): edges
            for kind in KINDS
            for layer, heads in enumerate(self.maps[kind])
            for head, edges in enumerate(heads)
        }

    @property
    def heads(self) -> Mapping[str, float]:
        """Head -> flow of all its edges together."""
        return {head: float(edges.sum()) for head, edges in self.edges.items()}

    @cached_property
    def ways(self) -> Ways:
        """Attention edges other than 0, each summed over heads, the largest first."""
        places, heads = [], []
        for number, kind in enumerate(KINDS):
            of_kind = self.maps[kind].transpose(0, 2, 3, 1)  # (L, Q, K, H)
            at = np.nonzero(of_kind.any(axis=3))
            places.append(np.stack([np.full(len(at[0]), number), *at]))
            heads.append(of_kind[at])
        (kinds, layers, queries, keys), each = np.concatenate(places, axis=1), np.concatenate(heads)
        value = each.sum(axis=1)
        order = np.argsort(-np.abs(value), kind="stable")
        places_of = {"kind": kinds[order], "layer": layers[order], "query": queries[order], "key": keys[order]}
        return Ways(**places_of, value=value[order], heads=each[order])

    @property
    def total(self) -> float:
        """Sum of the sizes of all ways."""
        return float(np.abs(self.ways.value).sum())

    def neurons(self, top: int = 10) -> list[tuple[str, int, int, float]]:
        """Return the neurons that contribute most: address of their layer's activations, position, neuron, flow.

        Raises:
            ValueError: More than the flow keeps.
        """
        if not 0 <= top <= MAX_NEURONS:
            raise ValueError(f"top is {top}, but must be from 0 to {MAX_NEURONS}")
        return [
            (f"{stack}.{layer + 1}.activations", position, neuron, flow)
            for stack, layer, position, neuron, flow in self.top_neurons[:top]
        ]

    def at(self, height: int) -> FloatArray:
        """Return the parts at one height of the network, whose sum is the logit.

        Args:
            height: From 0 to L: states of the encoder after that number of layers, and the decoder's embeddings. From
                L + 1 to 2 L: the encoder's output through all above, and states of the decoder after `height` - L.

        Returns:
            (S + T + 1,): of source positions, of target positions, and of all biases that enter above.

        Raises:
            ValueError: There is no such height.
        """
        layers = len(self.memory) - 1
        if not 0 <= height <= 2 * layers:
            raise ValueError(f"height is {height}, but must be from 0 to {2 * layers}")
        of_source = self.states["encoder"][height] if height <= layers else self.memory[height - layers]
        of_target = self.states["decoder"][max(0, height - layers)]
        return np.concatenate([of_source, of_target, self.biases_above[height : height + 1]])

    def graph(self, share: float = 0.8) -> Graph:
        """Return the fewest ways that carry a share of all flow, which is the sum of their sizes.

        Raises:
            ValueError: The share is not above 0 and at most 1.
        """
        if not 0 < share <= 1:
            raise ValueError(f"share is {share}, but must be above 0 and at most 1")
        sizes = np.abs(self.ways.value).astype(np.float64).cumsum()
        count = min(len(sizes), int(np.searchsorted(sizes, share * (sizes[-1] if len(sizes) else 0))) + 1)
        return Graph(
            run=self.run,
            position=self.position,
            states=self.states,
            residuals=self.residuals,
            ways=self.ways.first(count),
            count=len(self.ways),
            total=self.total,
        )

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each edge other than 0: head, query and key, their tokens, flow.

        Raises:
            MissingPackage: pandas is not installed.
        """
        with extra("frames"):
            import pandas
        ways = self.ways
        rows, heads = ways.heads.nonzero()
        names = [
            str(Head(KINDS[ways.kind[row]], int(ways.layer[row]), head))
            for row, head in zip(rows, heads.tolist(), strict=True)
        ]
        tokens = np.array([ways.tokens(row, self.run) for row in range(len(ways))]).reshape(-1, 2)
        columns = {"head": names, "query": ways.query[rows], "key": ways.key[rows]}
        columns |= {"query_token": tokens[rows, 0], "key_token": tokens[rows, 1], "flow": ways.heads[rows, heads]}
        return pandas.DataFrame(columns)

    def to_networkx(self) -> networkx.MultiDiGraph:
        """Return the graph of all ways; see `Graph.to_networkx`."""
        return self.graph(1.0).to_networkx()

    @property
    def dot(self) -> str:
        """The graph of `graph()` in the language of Graphviz."""
        return self.graph().dot
