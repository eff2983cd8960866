"""Ways of a flow, and the graph of the largest ones.

Shape legend: L layers, H heads, n positions, W ways.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from transformer_core.analysis.frozen import Stack
from transformer_core.analysis.teacher_forced_run import TeacherForcedRun
from transformer_core.attention_maps import KINDS, FloatArray
from transformer_core.extras import extra
from transformer_core.head import Head, Layer
from transformer_core.short_repr import ShortRepr
from transformer_core.text.tokenizer import BOS_TOKEN

if TYPE_CHECKING:
    import networkx

IntArray = npt.NDArray[np.int64]
Node = tuple[Stack, int, int]  # after so many layers, at a position


@dataclass(frozen=True, kw_only=True, eq=False)
class Ways(ShortRepr):
    """Attention edges, each summed over the heads of its layer, the largest first.

    Args:
        kind: (W,) of attention, as in `KINDS`: 0 encoder, 1 decoder, 2 cross.
        layer: (W,) from 0.
        query: (W,)
        key: (W,)
        value: (W,) flow, signed.
        heads: (W, H) its parts.
    """

    kind: IntArray
    layer: IntArray
    query: IntArray
    key: IntArray
    value: FloatArray
    heads: FloatArray

    def __len__(self) -> int:
        return len(self.value)

    def first(self, count: int) -> Ways:
        """Return the largest ones."""
        return Ways(**{each.name: getattr(self, each.name)[:count] for each in fields(self)})

    def tokens(self, way: int, run: TeacherForcedRun) -> tuple[str, str]:
        """Return the tokens of query and key; queries of encoder-decoder attention are tokens that it generates."""
        inputs = (BOS_TOKEN, *run.tokens[:-1])
        queries, keys = ((run.source_tokens,) * 2, (inputs,) * 2, (run.tokens, run.source_tokens))[self.kind[way]]
        return queries[self.query[way]], keys[self.key[way]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Graph(ShortRepr):
    """The fewest ways that carry a share of all flow.

    Args:
        run: The teacher-forced run.
        position: Number of the generated token.
        states: `encoder` and `decoder` -> (L + 1, n), contributions of the states.
        residuals: `encoder` and `decoder` -> (L, n), of what passes by a layer's self-attention.
        ways: Those in the graph.
        count: Number of all ways of the flow.
        total: Sum of their sizes.
    """

    run: TeacherForcedRun
    position: int
    states: Mapping[Stack, FloatArray]
    residuals: Mapping[Stack, FloatArray]
    ways: Ways
    count: int
    total: float

    @property
    def omitted(self) -> float:
        """Sum of the sizes of the ways that the graph lacks."""
        return self.total - float(np.abs(self.ways.value).sum())

    def to_dict(self) -> dict[str, Any]:
        """Return nodes and edges as plain values, ready for JSON and for `networkx.node_link_graph`.

        A node is a state, such as `decoder.2 at 3`: token 3, from 0, after two layers of the decoder. Its flow is its
        contribution. An edge is a way, with its heads, or a residual connection between two nodes of a token.
        """
        ways = [self._way(number) for number in range(len(self.ways))]
        nodes: set[Node] = {node for *ends, _ in ways for node in ends} | {("decoder", self._layers, self.position)}
        columns: dict[tuple[Stack, int], list[int]] = {}
        for stack, layer, at in nodes:
            columns.setdefault((stack, at), []).append(layer)
        passed = [
            ((stack, layer, at), (stack, layer + 1, at), self._residual(stack, layer, at))
            for (stack, at), layers in sorted(columns.items())
            for layer in range(min(layers), max(layers))
        ]
        nodes |= {node for *ends, _ in passed for node in ends}
        return {
            "directed": True,
            "multigraph": True,
            "graph": {"position": self.position, "ways": len(self.ways), "of": self.count, "omitted": self.omitted},
            "nodes": [
                {"id": _name(node), "token": self._token(node), "flow": float(self.states[node[0]][node[1:]])}
                for node in sorted(nodes)
            ],
            "edges": [
                {"source": _name(below), "target": _name(above), "key": number, **values}
                for number, (below, above, values) in enumerate([*ways, *passed])
            ],
        }

    def to_networkx(self) -> networkx.MultiDiGraph:
        """Return `to_dict` as a graph of networkx. Raises MissingPackage where it is not installed."""
        with extra("frames"):
            import networkx
        return networkx.node_link_graph(self.to_dict(), edges="edges")

    @property
    def dot(self) -> str:
        """The graph in the language of Graphviz."""
        values = self.to_dict()
        quoted = partial(json.dumps, ensure_ascii=False)
        lines = [f"{quoted(each['id'])} [label={quoted(each['token'])}];" for each in values["nodes"]]
        largest = max((abs(each["flow"]) for each in values["edges"]), default=0.0) or 1.0
        for each in values["edges"]:
            label = f"{each['layer']} {each['flow']:+.2f}"
            width = f"penwidth={0.5 + 4 * abs(each['flow']) / largest:.2f}"
            ends = f"{quoted(each['source'])} -> {quoted(each['target'])}"
            lines.append(f'{ends} [label="{label}", {width}{", style=dashed" if each["flow"] < 0 else ""}];')
        return "\n".join(["digraph flow {", "rankdir=BT;", *lines, "}"])

    def _way(self, number: int) -> tuple[Node, Node, dict[str, Any]]:
        """Return the ends of a way, and its values."""
        ways = self.ways
        kind, layer = KINDS[ways.kind[number]], int(ways.layer[number])
        key = int(ways.key[number])
        below: Node = ("encoder", self._layers, key) if kind == "cross" else (kind, layer, key)
        stack: Stack = "encoder" if kind == "encoder" else "decoder"
        heads = {str(Head(kind, layer, head)): float(value) for head, value in enumerate(ways.heads[number]) if value}
        values = {"layer": str(Layer(kind, layer)), "flow": float(ways.value[number]), "heads": heads}
        return below, (stack, layer + 1, int(ways.query[number])), values

    def _residual(self, stack: Stack, layer: int, at: int) -> dict[str, Any]:
        return {"layer": "residual", "flow": float(self.residuals[stack][layer, at])}

    @property
    def _layers(self) -> int:
        return len(self.residuals["encoder"])

    def _token(self, node: Node) -> str:
        stack, _, at = node
        return self.run.source_tokens[at] if stack == "encoder" else (BOS_TOKEN, *self.run.tokens)[at]


def _name(node: Node) -> str:
    stack, layer, at = node
    return f"{stack}.{layer} at {at}"
