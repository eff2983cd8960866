"""Kendall's tau-b by counting pairs, and what an attribution is asked."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.core.analysis.attribution.sentences import SOURCE, TARGET, run_of_ids
from tests.core.analysis.models import of_shapes
from transformer_core.analysis import attribution, sublayer
from transformer_core.analysis.attribution import METHODS, Contrast, agreement, attribute, kendall_tau_b
from transformer_core.decoding.beam import DecodingStopped
from transformer_core.model import additive
from transformer_core.translator import Translator


def tau_by_counting(a: list[float], b: list[float]) -> float:
    """(C - D) / sqrt((C + D + T_a) (C + D + T_b)), T: pairs tied in one only (Kendall 1945)."""
    agree = differ = tied_a = tied_b = 0
    for i in range(len(a)):
        for j in range(i):
            one, two = a[i] - a[j], b[i] - b[j]
            agree += one * two > 0
            differ += one * two < 0
            tied_a += one == 0 and two != 0
            tied_b += two == 0 and one != 0
    scale = math.sqrt((agree + differ + tied_a) * (agree + differ + tied_b))
    return (agree - differ) / scale if scale else math.nan


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=9))
def test_it_equals_counting_pairs(pairs: list[tuple[int, int]]) -> None:
    a, b = [float(x) for x, _ in pairs], [float(y) for _, y in pairs]
    result = float(kendall_tau_b(torch.tensor([a]), torch.tensor([b])))
    assert result == pytest.approx(tau_by_counting(a, b), nan_ok=True)


def test_agreement_is_the_mean_over_rows_of_the_order_of_words(learned: Translator) -> None:
    one = attribute(learned, SOURCE, TARGET, method="alti")
    two = attribute(learned, SOURCE, TARGET, method="integrated-gradients")
    taus = []
    for row in range(len(one.source)):
        sizes = []
        for result in (one, two):
            sums = [0.0] * (len(set(result.source_axis.words)) - 1)
            for position, word in enumerate(result.source_axis.words[:-1]):
                sums[word] += float(result.source[row, position])
            sizes.append([abs(value) for value in sums])
        taus.append(tau_by_counting(*sizes))
    assert agreement(one, two) == pytest.approx(sum(taus) / len(taus), abs=1e-6)
    assert agreement(one, one) == pytest.approx(1.0)


def test_only_what_explains_the_same_can_agree(learned: Translator) -> None:
    one = attribute(learned, SOURCE, TARGET, method="gradient")
    with pytest.raises(ValueError, match="different"):
        agreement(one, attribute(learned, "A child sees a house.", TARGET, method="gradient"))
    contrast = Contrast(position=0, token=5, other=6)
    with pytest.raises(ValueError, match="contrast"):
        agreement(one, attribute(learned, SOURCE, TARGET, method="gradient", contrast=contrast))
    with_one_word = attribute(learned, "house", TARGET, method="gradient")
    assert math.isnan(agreement(with_one_word, with_one_word))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_a_row_for_every_token(learned: Translator, method: Any) -> None:
    result = attribute(learned, SOURCE, method=method, steps=4)
    own = learned.translate(SOURCE)
    assert result.run.text == own.text
    outputs, sources = len(result.run.tokens), len(learned.encode(SOURCE)) + 1
    assert result.source.shape == (outputs, sources) == (len(own.scores), len(result.source_axis))
    assert result.target.shape == (outputs, outputs) == (len(result.input_axis),) * 2
    assert result.source.isfinite().all() and result.source.any()
    assert not result.target.triu(1).abs().gt(1e-5).any() or method == "leave-one-out"
    short = attribute(learned, "house", "", method=method, steps=4)
    assert short.target.shape == (1, 1) and short.source.isfinite().all()
    special = learned.tokenizer.special  # `</s>` alone, which no text gives
    alone = attribute(learned, run_of_ids(learned, [special.eos], [special.bos], [special.eos]), method=method)
    assert alone.source.shape == alone.target.shape == (1, 1) and alone.source_words.shape == (1, 0)
    assert alone.source.isfinite().all() and alone.target.isfinite().all()
    with pytest.raises(DecodingStopped):
        attribute(learned, SOURCE, TARGET, method=method, should_stop=lambda: True)


@of_shapes([{}, {"attention": "additive"}])
@pytest.mark.parametrize("method", ["norm-ln", "alti", "integrated-gradients", "leave-one-out"])
def test_small_portions_give_the_same(translator: Translator, method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One query, row and point at a time; additive attention computes its portions again in the backward pass."""
    whole = attribute(translator, SOURCE, TARGET, method=method, steps=2)
    for module in (attribution.gradients, attribution.leave_one_out, sublayer):
        monkeypatch.setattr(module, "_MAX_VALUES", 1)
    monkeypatch.setattr(additive, "_INNER_VALUES", 1)
    again = attribute(translator, SOURCE, TARGET, method=method, steps=2)
    assert again.source == pytest.approx(whole.source, abs=1e-5)
    assert again.target == pytest.approx(whole.target, abs=1e-5)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"method": "lime"}, "must be one of attention, rollout"),
        ({"method": "alti", "at": "cross.1"}, "alti takes no layer; attention, norm, norm-ln do"),
        ({"method": "norm-ln", "at": "cross.1.1"}, "norm-ln takes no head"),
        ({"method": "norm", "at": "cross.3"}, "cross.3 is no layer of encoder-decoder attention"),
        ({"method": "attention", "at": "encoder.1.1"}, "they go from cross.1.1 to cross.2.4"),
        ({"method": "attention", "at": "cross"}, "neither a head"),
        ({"method": "rollout", "contrast": Contrast(0, 4, 5)}, "takes no contrast"),
        ({"method": "gradient", "contrast": Contrast(99, 4, 5)}, "tokens 0 to"),
        ({"method": "gradient", "contrast": Contrast(0, 4, 10**6)}, "tokens from 0 to"),
        ({"method": "integrated-gradients", "steps": 0}, "steps is 0"),
    ],
)
def test_what_a_method_cannot_do_is_refused(learned: Translator, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        attribute(learned, SOURCE, TARGET, **options)
