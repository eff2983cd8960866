"""Cuts against the model whose weights are set to 0 by hand, edge by edge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

from tests.core.analysis.models import SOURCE, TARGET, heads, of_shapes
from transformer_core.analysis.ablation import hook_point_name
from transformer_core.analysis.flow import POINTS, cut_edges, flow
from transformer_core.analysis.teacher_forced_run import teacher_forced_run
from transformer_core.head import Head
from transformer_core.hooks.points import hook_points
from transformer_core.translator import Translator

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
