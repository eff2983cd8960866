"""Ways and graphs: against sums and choices written out."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tests.core.analysis.models import SOURCE, TARGET
from transformer_core.analysis.flow import Flow, flow
from transformer_core.attention_maps import KINDS
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
