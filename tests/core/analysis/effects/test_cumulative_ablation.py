"""Heads switched off one after the other: against ordinary ablations, brute force and finite differences."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.analysis.effects.test_head_effects import SOURCE, TARGET, heads, make_translator
from transformer_core.analysis import teacher_forced_run as run_module
from transformer_core.analysis.ablation import ablated
from transformer_core.analysis.effects.cumulative_ablation import ORDERS, Order, cumulative_ablation
from transformer_core.decoding.beam import DecodingStopped
from transformer_core.text.tokenizer import Tokenizer
from transformer_core.translator import Translator

SHAPES: list[dict[str, Any]] = [{}, {"norm": "pre"}, {"attention_biases": True}]


def small(tokenizer: Tokenizer, **options: Any) -> Translator:
    translator = make_translator(tokenizer, **options)
    translator.decoding = translator.decoding.replace(extra_length=3)  # random weights write to the limit
    return translator


@pytest.mark.parametrize("options", SHAPES, ids=str)
@pytest.mark.parametrize("order", ORDERS)
def test_every_step_is_an_ordinary_ablation(tokenizer: Tokenizer, options: dict[str, Any], order: Order) -> None:
    translator = small(tokenizer, **options)
    found = cumulative_ablation(translator, SOURCE, TARGET, order=order, texts=3, beam=2)
    assert sorted(found.heads) == sorted(heads(translator))
    assert len(found.log_p) == len(found.heads) + 1
    for count in range(0, len(found.heads) + 1, 5):
        with ablated(translator, found.heads[:count]):
            expected = translator.score([(SOURCE, TARGET)])[0]
        assert float(found.log_p[count]) == pytest.approx(expected, abs=1e-3)
    assert [count for count, _ in found.texts] == [0, len(found.heads) // 2, len(found.heads)]
    for count, text in found.texts:
        with ablated(translator, found.heads[:count]):
            assert translator.translate(SOURCE, beam=2).text == text


def test_the_orders(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    translator = small(tokenizer)
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
    whole = cumulative_ablation(translator, SOURCE, TARGET, texts=2, beam=1)
    monkeypatch.setattr(run_module, "_MAX_VALUES", 1)  # one row after the other
    assert cumulative_ablation(translator, SOURCE, TARGET, texts=2, beam=1).log_p == pytest.approx(
        whole.log_p, abs=1e-4
    )


def test_bad_input(tokenizer: Tokenizer) -> None:
    translator = small(tokenizer)
    with pytest.raises(ValueError, match="order is 'nonsense', but must be one of effect"):
        cumulative_ablation(translator, SOURCE, order="nonsense")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="texts is 1"):
        cumulative_ablation(translator, SOURCE, texts=1)
    with pytest.raises(DecodingStopped):
        cumulative_ablation(translator, SOURCE, TARGET, should_stop=lambda: True)
