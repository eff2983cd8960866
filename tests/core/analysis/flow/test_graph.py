"""Ways and graphs against sums written out; cuts against the model whose weights are set to 0 by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch

from tests.core.analysis.models import SOURCE, TARGET, heads, of_shapes
from transformer_core.analysis.ablation import hook_point_name
from transformer_core.analysis.flow import POINTS, Flow, cut_edges, flow
from transformer_core.analysis.teacher_forced_run import teacher_forced_run
from transformer_core.attention_maps import KINDS
from transformer_core.head import Head
from transformer_core.hooks.points import hook_points
from transformer_core.translator import Translator


@pytest.fixture
def result(translator: Translator) -> Flow:
    return flow(translator, (SOURCE, TARGET), 5)


def test_a_way_is_the_sum_of_its_heads(result: Flow) -> None:
    ways = result.ways
    expected = {
        (number, layer, query, key): float(values.sum())
        for number, kind in enumerate(KINDS)
        for layer, of_layer in enumerate(result.maps[kind])
        for query, of_query in enumerate(of_layer.transpose(1, 2, 0))
        for key, values in enumerate(of_query)
        if values.any()
    }
    places = list(zip(ways.kind, ways.layer, ways.query, ways.key, strict=True))
    assert len(ways) == len(expected) == len(set(places))
    assert list(ways.value) == pytest.approx([expected[place] for place in places], abs=1e-6)
    assert ways.heads.sum(axis=1) == pytest.approx(ways.value, abs=1e-6)
    assert all(abs(one) >= abs(next_) for one, next_ in pairwise(ways.value))
    assert result.total == pytest.approx(sum(map(abs, expected.values())))


def test_the_graph_is_the_smallest_that_carries_a_share(result: Flow) -> None:
    sizes = sorted((abs(value) for value in result.ways.value.tolist()), reverse=True)
    for share in (0.01, 0.5, 0.8, 1.0):
        graph = result.graph(share)
        count = next(n for n in range(1, len(sizes) + 1) if sum(sizes[:n]) >= share * sum(sizes) - 1e-6)
        assert len(graph.ways) == count and graph.count == len(sizes)
        assert graph.omitted == pytest.approx(sum(sizes[count:]), abs=1e-4)


def test_other_programs_read_the_graph(result: Flow) -> None:
    graph = result.graph(0.5)
    drawn = graph.to_networkx()
    top = f"decoder.{len(result.residuals['decoder'])} at 5"
    assert drawn.nodes[top] == {"token": result.run.tokens[4], "flow": pytest.approx(result.states["decoder"][-1, 5])}
    ways = [values for *_, values in drawn.edges(data=True) if values["layer"] != "residual"]
    assert sorted(values["flow"] for values in ways) == pytest.approx(sorted(graph.ways.value.tolist()))
    assert all(sum(values["heads"].values()) == pytest.approx(values["flow"], abs=1e-6) for values in ways)
    for below, above, values in drawn.edges(data=True):
        (one, at), (other, _) = below.split(" at "), above.split(" at ")
        if values["layer"] == "residual":
            stack, layer = one.split(".")
            assert values["flow"] == pytest.approx(float(result.residuals[stack][int(layer), int(at)]))
        elif values["layer"].startswith("cross"):
            assert one == f"encoder.{len(result.residuals['encoder'])}" and other == values["layer"].replace(
                "cross", "decoder"
            )
        else:
            assert other == values["layer"]
    text = graph.dot
    assert text.startswith("digraph flow {") and text.count(" -> ") == drawn.number_of_edges()
    assert text.count("[label=") == drawn.number_of_edges() + drawn.number_of_nodes()


def test_the_frame_has_every_edge(result: Flow) -> None:
    frame = result.to_frame()
    assert len(frame) == sum(int(np.count_nonzero(edges)) for edges in result.edges.values())
    for row in frame.sample(20, random_state=0).itertuples():
        assert row.flow == result.edges[row.head][row.query, row.key]
        inputs = ("<s>", *result.run.tokens)
        queries = {"e": result.run.source_tokens, "d": inputs, "c": result.run.tokens}[row.head[0]]
        assert row.query_token == queries[row.query]
        assert row.key_token == (inputs if row.head[0] == "d" else result.run.source_tokens)[row.key]


AT, SHARES = 4, (0.01, 0.1, 0.4)
Edge = tuple[Head, int, int]


def visible(translator: Translator, source: int) -> Iterator[Edge]:
    """List the edges up to token `AT` that a causal model has."""
    for head in heads(translator):
        queries = source if head.kind == "encoder" else AT + 1
        for query in range(queries):
            yield from ((head, query, key) for key in range(query + 1 if head.kind == "decoder" else source))


def log_p_without(translator: Translator, edges: Iterable[Edge]) -> float:
    points = hook_points(translator.model)
    handles = []
    for head, query, key in edges:
        point = points[hook_point_name(head.kind, head.layer, "weights")]

        def zero(_module: Any, _inputs: Any, weights: torch.Tensor, at: Any = (0, head.head, query, key)) -> Any:
            changed = weights.clone()
            changed[at] = 0.0
            return changed

        handles.append(point.register_forward_hook(zero))
    try:
        return float(teacher_forced_run(translator, SOURCE, TARGET).log_p[AT])
    finally:
        for handle in handles:
            handle.remove()


@of_shapes([{}, {"norm": "pre", "attention_biases": True}])
def test_cuts_are_those_of_weights_set_to_0_by_hand(translator: Translator) -> None:
    result = flow(translator, (SOURCE, TARGET), AT)
    cuts = cut_edges(translator, result, SHARES, random_orders=2)
    edges = list(visible(translator, len(result.run.source_tokens)))
    assert cuts.edges == len(edges) and cuts.random.shape == (2, len(SHARES))
    weights = teacher_forced_run(translator, SOURCE, TARGET, points=POINTS).captured

    def weight(edge: Edge) -> float:
        head, query, key = edge
        return float(weights[hook_point_name(head.kind, head.layer, "weights")][0, head.head, query, key])

    whole = log_p_without(translator, [])
    assert cuts.log_p == pytest.approx(whole, abs=1e-5)
    by_flow = sorted(edges, key=lambda edge: -result.edges[str(edge[0])][edge[1], edge[2]])
    for changes, order in ((cuts.flow, by_flow), (cuts.attention, sorted(edges, key=weight, reverse=True))):
        by_hand = [log_p_without(translator, order[: round(share * len(edges))]) - whole for share in SHARES]
        np.testing.assert_allclose(changes, by_hand, atol=1e-4)
        assert min(map(abs, by_hand)) > 1e-4


def test_random_cuts_have_a_seed_and_all_edges_are_one_cut(translator: Translator) -> None:
    result = flow(translator, (SOURCE, TARGET), AT)
    one, other = (cut_edges(translator, result, (0.2, 1.0), random_orders=1, seed=seed) for seed in (0, 1))
    assert torch.equal(one.random, cut_edges(translator, result, (0.2, 1.0), random_orders=1).random)
    assert one.random[0, 0] != other.random[0, 0]
    all_edges = torch.cat([one.flow[1:], one.attention[1:], one.random[0, 1:], other.random[0, 1:]])
    np.testing.assert_allclose(all_edges, float(one.flow[1]), atol=1e-5)
    with pytest.raises(ValueError, match="share is 0"):
        cut_edges(translator, result, (0.0,))
