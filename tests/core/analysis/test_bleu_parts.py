"""BLEU step by step, against sacreBLEU and by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from transformer_core.analysis.bleu import bleu_parts
from transformer_core.evaluation.metrics import bleu

WORDS = st.lists(st.sampled_from(["der", "Hund", "die", ",", ".", "U.S.", "3,5", "spielt-", "&quot;"]), max_size=9)


@given(WORDS.map(" ".join), WORDS.filter(bool).map(" ".join))
def test_it_is_sacrebleus_number(hypothesis: str, reference: str) -> None:
    parts = bleu_parts(hypothesis, reference)
    expected = BLEU().corpus_score([hypothesis], [[reference]])
    assert parts.score == pytest.approx(expected.score, abs=1e-9)
    assert [precision.matches for precision in parts.precisions] == expected.counts
    assert [precision.total for precision in parts.precisions] == expected.totals
    assert parts.brevity_penalty == pytest.approx(expected.bp)
    if any(expected.counts):
        assert [100 * precision.value for precision in parts.precisions] == pytest.approx(expected.precisions)


def test_a_hand_worked_example() -> None:
    # The classic: "the" seven times matches only twice (Papineni et al. 2002).
    parts = bleu_parts("the the the the the the the", "the cat is on the mat")
    first = parts.precisions[0]
    assert (first.matches, first.total) == (2, 7)
    assert [(count.ngram, count.found, count.allowed, count.clipped) for count in first.counts] == [(("the",), 7, 2, 2)]
    # Nothing longer matches: 1/2 of 6, 1/4 of 5, 1/8 of 4 are what smoothing leaves.
    assert [precision.value for precision in parts.precisions[1:]] == pytest.approx([0.5 / 6, 0.25 / 5, 0.125 / 4])
    assert parts.score == pytest.approx(100 * math.exp(sum(map(math.log, (2 / 7, 0.5 / 6, 0.25 / 5, 0.125 / 4))) / 4))
    assert parts.score == pytest.approx(bleu(["the the the the the the the"], [["the cat is on the mat"]]).value)
