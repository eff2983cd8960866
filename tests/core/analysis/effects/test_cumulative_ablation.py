"""Heads switched off one after the other: against ordinary ablations, brute force and finite differences."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.core.analysis.models import FEW_SHAPES, SOURCE, TARGET, heads, of_shapes
from transformer_core.analysis.ablation import Head, ablated
from transformer_core.analysis.effects.cumulative_ablation import (
    ORDERS,
    Order,
    cumulative_ablation,
    head_faithfulness,
    random_order,
)
from transformer_core.analysis.effects.head_effects import head_effects
from transformer_core.translator import Translator


@of_shapes(FEW_SHAPES)
@pytest.mark.parametrize("order", ORDERS)
def test_every_step_is_an_ordinary_ablation(translator: Translator, order: Order) -> None:
    result = cumulative_ablation(translator, SOURCE, TARGET, order=order, texts=3, beam=2)
    assert sorted(result.heads) == sorted(heads(translator))
    assert len(result.log_p) == len(result.heads) + 1
    for count in range(0, len(result.heads) + 1, 5):
        with ablated(translator, result.heads[:count]):
            expected = translator.score([(SOURCE, TARGET)])[0]
        assert float(result.log_p[count]) == pytest.approx(expected, abs=1e-3)
    assert [count for count, _ in result.texts] == [0, len(result.heads) // 2, len(result.heads)]
    for count, text in result.texts:
        with ablated(translator, result.heads[:count]):
            assert translator.translate(SOURCE, beam=2).text == text


def test_the_orders(translator: Translator) -> None:
    everything = heads(translator)

    def alone(off: list[Any]) -> float:
        with ablated(translator, off):
            return translator.score([(SOURCE, TARGET)])[0]

    by_effect = sorted(everything, key=lambda head: -alone([head]))
    assert list(cumulative_ablation(translator, SOURCE, TARGET, texts=2, beam=1).heads)[:6] == by_effect[:6]
    greedy = cumulative_ablation(translator, SOURCE, TARGET, order="greedy", texts=2, beam=1).heads
    for count in range(3):
        rest = [head for head in everything if head not in greedy[:count]]
        assert greedy[count] == max(rest, key=lambda head: alone([*greedy[:count], head]))
    drawn = [
        cumulative_ablation(translator, SOURCE, TARGET, order="random", seed=s, texts=2, beam=1).heads
        for s in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]
    beside = cumulative_ablation(translator, SOURCE, TARGET, seed=0, random_orders=2, texts=3, beam=1)
    counts = [count for count, _ in beside.texts]
    for seed, row in zip((1, 2), beside.random, strict=True):
        there = cumulative_ablation(translator, SOURCE, TARGET, order="random", seed=seed, texts=2, beam=1)
        assert row == pytest.approx(there.log_p[counts], abs=1e-4)


def test_bad_input(translator: Translator) -> None:
    with pytest.raises(ValueError, match="order is 'nonsense', but must be one of effect"):
        cumulative_ablation(translator, SOURCE, order="nonsense")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="texts is 1"):
        cumulative_ablation(translator, SOURCE, texts=1)


def test_falls_are_those_of_ordinary_ablations(translator: Translator) -> None:
    everything = heads(translator)
    whole = translator.score([(SOURCE, TARGET)])[0]

    def fall(off: list[Head]) -> float:
        with ablated(translator, off):
            return whole - translator.score([(SOURCE, TARGET)])[0]

    alone = {head: fall([head]) for head in everything}
    ordered = sorted(everything, key=lambda head: -alone[head])
    result = head_faithfulness(translator, head_effects(translator, SOURCE, TARGET), max_heads=3, draws=2, seed=5)
    drawn = [random_order(everything, seed) for seed in (5, 6)]
    for count in (1, 2, 3):
        assert float(result.first[count - 1]) == pytest.approx(fall(ordered[:count]), abs=1e-3)
        assert float(result.last[count - 1]) == pytest.approx(fall(ordered[::-1][:count]), abs=1e-3)
        mean = sum(fall(order[:count]) for order in drawn) / len(drawn)
        assert float(result.random[count - 1]) == pytest.approx(mean, abs=1e-3)
    assert result.first[0] == max(result.first[0], result.random[0], result.last[0])


def test_no_more_heads_go_than_there_are(translator: Translator) -> None:
    effects = head_effects(translator, SOURCE, TARGET)
    result = head_faithfulness(translator, effects, max_heads=999, draws=1)
    assert len(result.first) == len(heads(translator))
    torch.testing.assert_close(result.first[-1], result.last[-1], atol=1e-3, rtol=0)  # all are off
