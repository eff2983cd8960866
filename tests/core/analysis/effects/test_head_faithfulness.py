"""Heads switched off together in the order of their effects: against ordinary ablations."""

from __future__ import annotations

import pytest
import torch

from tests.core.analysis.effects.test_head_effects import SOURCE, TARGET, heads, make_translator
from transformer_core.analysis.ablation import Head, ablated
from transformer_core.analysis.effects.cumulative_ablation import head_faithfulness, random_order
from transformer_core.analysis.effects.head_effects import head_effects
from transformer_core.decoding.beam import DecodingStopped
from transformer_core.text.tokenizer import Tokenizer


def test_falls_are_those_of_ordinary_ablations(tokenizer: Tokenizer) -> None:
    translator = make_translator(tokenizer)
    everything = heads(translator)
    whole = translator.score([(SOURCE, TARGET)])[0]

    def fall(off: list[Head]) -> float:
        with ablated(translator, off):
            return whole - translator.score([(SOURCE, TARGET)])[0]

    alone = {head: fall([head]) for head in everything}
    ordered = sorted(everything, key=lambda head: -alone[head])
    found = head_faithfulness(translator, head_effects(translator, SOURCE, TARGET), max_heads=3, draws=2, seed=5)
    drawn = [random_order(everything, seed) for seed in (5, 6)]
    for count in (1, 2, 3):
        assert float(found.first[count - 1]) == pytest.approx(fall(ordered[:count]), abs=1e-3)
        assert float(found.last[count - 1]) == pytest.approx(fall(ordered[::-1][:count]), abs=1e-3)
        mean = sum(fall(order[:count]) for order in drawn) / len(drawn)
        assert float(found.random[count - 1]) == pytest.approx(mean, abs=1e-3)
    assert found.first[0] == max(found.first[0], found.random[0], found.last[0])


def test_no_more_heads_go_than_there_are_and_it_can_be_stopped(tokenizer: Tokenizer) -> None:
    translator = make_translator(tokenizer)
    effects = head_effects(translator, SOURCE, TARGET)
    found = head_faithfulness(translator, effects, max_heads=999, draws=1)
    assert len(found.first) == len(heads(translator))
    torch.testing.assert_close(found.first[-1], found.last[-1], atol=1e-3, rtol=0)  # all are off
    with pytest.raises(DecodingStopped):
        head_faithfulness(translator, effects, should_stop=lambda: True)
