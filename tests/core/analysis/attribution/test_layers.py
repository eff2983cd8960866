"""Attention weights, norms, rollout and ALTI+ against loops over layers, heads, positions and keys."""

from __future__ import annotations

from typing import Any, Literal

import pytest
import torch
from torch import Tensor

from tests.core.analysis.attribution.sentences import SOURCE, TARGET, parts
from tests.core.analysis.models import SHAPES, of_shapes, sublayers
from transformer_core.analysis.ablation import Head, ablated, hook_point_name
from transformer_core.analysis.attribution import POINTS, attribute, cross_contributions
from transformer_core.analysis.sublayer import SubLayer
from transformer_core.analysis.teacher_forced_run import SUBLAYERS, TeacherForcedRun, teacher_forced_run
from transformer_core.attention_maps import Kind
from transformer_core.translator import Translator

ALL = slice(0, 10**6)


def residual_after(run: TeacherForcedRun, kind: Kind, layer: int) -> torch.Tensor:
    stack = "encoder" if kind == "encoder" else "decoder"
    return run.captured[f"{stack}.layers.{layer}.{SUBLAYERS[kind]}_add_norm.residual"][0]


@of_shapes(SHAPES)
def test_every_vector_is_that_of_the_formula_and_all_sum_to_the_output(translator: Translator) -> None:
    run = teacher_forced_run(translator, SOURCE, TARGET, points=POINTS)
    for kind, layer in sublayers(translator):
        result, expected = SubLayer.of(translator.model, run, kind, layer), parts(translator, run, kind, layer)
        vectors, output = result.vectors(ALL), residual_after(run, kind, layer)
        assert vectors.sum(dim=1) + result.constants(ALL) == pytest.approx(output, abs=1e-5), (kind, layer)
        assert result.output(ALL) == pytest.approx(output, abs=1e-5)
        assert result.constants(ALL) == pytest.approx(expected.constant, abs=1e-5)
        for query, row in enumerate(vectors):
            for key in range(expected.sent.shape[2]):
                sent = expected.sent[:, query, key].sum(dim=0)
                if kind != "cross" and query == key:
                    sent = sent + expected.residual[query]
                assert row[key] == pytest.approx(expected.linear(sent, query), abs=1e-5), (kind, layer, query, key)
            if kind == "cross":
                assert row[-1] == pytest.approx(expected.linear(expected.residual[query], query), abs=1e-5)


def test_what_an_edit_puts_in_the_place_of_a_head_belongs_to_no_token(learned: Translator) -> None:
    with ablated(learned, [Head("cross", 1, 2), Head("encoder", 0, 1)]):
        run = teacher_forced_run(learned, SOURCE, TARGET, points=POINTS)
    off: list[Head] = [Head("cross", 1, 2), Head("encoder", 0, 1)]
    for kind, layer, head in off:
        result = SubLayer.of(learned.model, run, kind, layer)
        summed = result.vectors(ALL).sum(dim=1) + result.constants(ALL)
        assert summed == pytest.approx(residual_after(run, kind, layer), abs=1e-5)
        assert [bool(messages.any()) for messages in result.messages] == [number != head for number in range(4)]


@of_shapes(SHAPES[:2])
def test_norms_are_those_of_a_loop(translator: Translator) -> None:
    values = {
        method: attribute(translator, SOURCE, TARGET, method=method, at="cross.2") for method in ("norm", "norm-ln")
    }
    of_head = attribute(translator, SOURCE, TARGET, method="norm", at="cross.2.3")
    for name, kind in (("source", "cross"), ("target", "decoder")):
        expected = parts(translator, of_head.run, kind, 1)  # type: ignore[arg-type]
        _heads, queries, keys, _d = expected.sent.shape
        for query in range(queries):
            for key in range(keys):
                sent = expected.sent[:, query, key].sum(dim=0)
                assert float(getattr(values["norm"], name)[query, key]) == pytest.approx(float(sent.norm()), abs=1e-5)
                if kind == "decoder" and query == key:
                    sent = sent + expected.residual[query]
                normed = float(expected.linear(sent, query).norm())
                assert float(getattr(values["norm-ln"], name)[query, key]) == pytest.approx(normed, abs=1e-5)
                if kind == "cross":
                    alone = float(expected.sent[2, query, key].norm())
                    assert float(of_head.source[query, key]) == pytest.approx(alone, abs=1e-5)
    assert torch.equal(of_head.target, values["norm"].target)  # heads of self-attention are others


@pytest.mark.parametrize(("at", "layer", "head"), [(None, None, None), ("cross.2", 1, None), ("cross.2.4", 1, 3)])
def test_attention_equals_the_maps(learned: Translator, at: str | None, layer: int | None, head: int | None) -> None:
    result = attribute(learned, SOURCE, TARGET, method="attention", at=at)
    maps = learned.teacher_force(SOURCE, TARGET).attention
    layers = slice(None) if layer is None else slice(layer, layer + 1)
    heads = slice(None) if head is None else slice(head, head + 1)
    assert result.source == pytest.approx(maps.cross[layers, heads].mean(axis=(0, 1)), abs=1e-6)
    assert result.target == pytest.approx(maps.decoder[layers].mean(axis=(0, 1)), abs=1e-6)
    assert result.source_axis == maps.source and result.input_axis == maps.inputs


@pytest.mark.parametrize("method", ["norm", "norm-ln"])
def test_without_a_layer_it_is_the_mean_over_layers(learned: Translator, method: Any) -> None:
    whole = attribute(learned, SOURCE, TARGET, method=method)
    layers = [attribute(learned, SOURCE, TARGET, method=method, at=f"cross.{layer + 1}") for layer in range(2)]
    assert whole.source == pytest.approx((layers[0].source + layers[1].source) / 2, abs=1e-6)
    assert whole.target == pytest.approx((layers[0].target + layers[1].target) / 2, abs=1e-6)


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
