"""Rollout and ALTI+ against loops over layers, positions and keys."""

from __future__ import annotations

from typing import Literal

import pytest
import torch
from torch import Tensor

from tests.core.analysis.attribution.sentences import SHAPES, SOURCE, TARGET, parts
from tests.core.analysis.models import of_shapes
from transformer_core.analysis.ablation import ablated, hook_point_name
from transformer_core.analysis.attribution import POINTS, attribute, cross_contributions
from transformer_core.analysis.teacher_forced_run import TeacherForcedRun, teacher_forced_run
from transformer_core.attention_maps import Kind
from transformer_core.translator import Translator

Method = Literal["rollout", "alti"]
METHODS: tuple[Method, ...] = ("rollout", "alti")


def shares_by_hand(translator: Translator, run: TeacherForcedRun, method: str, kind: Kind, layer: int) -> Tensor:
    """(Q, K), or (Q, K + 1) with the residual last, row for row."""
    expected = parts(translator, run, kind, layer)
    weights = run.captured[hook_point_name(kind, layer, "weights")][0]
    heads, queries, keys = weights.shape
    cross = kind == "cross"
    rows = torch.zeros(queries, keys + cross)
    for query in range(queries):
        for key in range(keys + cross):
            is_residual = key == keys if cross else key == query
            if method == "rollout":
                mean = sum(float(weights[head, query, key]) for head in range(heads)) / heads if key < keys else 0.0
                rows[query, key] = 0.5 * mean + 0.5 * is_residual
                continue
            vector = expected.sent[:, query, key].sum(dim=0) if key < keys else torch.zeros(translator.config.d_model)
            if is_residual:
                vector = vector + expected.residual[query]
            output = expected.output[query]
            rest = output - expected.linear(vector, query)
            rows[query, key] = max(0.0, float(output.abs().sum()) - float(rest.abs().sum()))
        rows[query] /= rows[query].sum()
    return rows


@of_shapes([{}, {"norm": "pre"}, {"attention_biases": True}])
@pytest.mark.parametrize("method", METHODS)
def test_relevance_is_carried_from_layer_to_layer(translator: Translator, method: Method) -> None:
    run = teacher_forced_run(translator, SOURCE, TARGET, points=POINTS)
    result = attribute(translator, SOURCE, TARGET, method=method)
    source, target = run.source.shape[1], run.inputs.shape[1]
    layers = range(translator.config.num_layers)
    encoder = torch.eye(source)
    for layer in layers:
        encoder = shares_by_hand(translator, run, method, "encoder", layer) @ encoder
    from_source, from_target = torch.zeros(target, source), torch.eye(target)
    for layer in layers:
        own = shares_by_hand(translator, run, method, "decoder", layer)
        cross = shares_by_hand(translator, run, method, "cross", layer)
        after_own = own @ from_source, own @ from_target
        for row in range(target):
            from_source[row] = cross[row, -1] * after_own[0][row] + cross[row, :-1] @ encoder
            from_target[row] = cross[row, -1] * after_own[1][row]
    assert result.source == pytest.approx(from_source, abs=1e-5)
    assert result.target == pytest.approx(from_target, abs=1e-5)


@of_shapes(SHAPES)
@pytest.mark.parametrize("method", METHODS)
def test_rows_sum_to_1_and_nothing_comes_from_the_future(translator: Translator, method: Method) -> None:
    result = attribute(translator, SOURCE, TARGET, method=method)
    assert result.source.sum(dim=1) + result.target.sum(dim=1) == pytest.approx(
        torch.ones(len(result.source)), abs=1e-5
    )
    assert result.source.min() >= 0 and result.target.min() >= 0
    assert not result.target.triu(1).any()


@pytest.mark.parametrize("layer", [0, 1])
def test_contributions_of_one_layer_for_alignment(learned: Translator, layer: int) -> None:
    run = teacher_forced_run(learned, SOURCE, TARGET, points=POINTS)
    expected = shares_by_hand(learned, run, "alti", "cross", layer)
    assert cross_contributions(learned, run, layer) == pytest.approx(expected[:, :-1], abs=1e-5)


def test_a_position_to_which_nothing_is_added_keeps_what_it_was(learned: Translator) -> None:
    everything = [("cross", layer, head) for layer in range(2) for head in range(4)]
    with ablated(learned, everything):  # type: ignore[arg-type]
        result = attribute(learned, SOURCE, TARGET, method="alti")
    assert not result.source.any()
    assert result.target.sum(dim=1) == pytest.approx(torch.ones(len(result.target)), abs=1e-5)
