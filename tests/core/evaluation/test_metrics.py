"""Scores against sacreBLEU called directly, and BLEU step by step."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from transformer_core.analysis.bleu import bleu_parts
from transformer_core.evaluation.metrics import bleu, chrf, paired_bootstrap

TRANSLATIONS = ["Der Hund sieht ein altes Haus .", "Zwei Bücher liegen hier.", "Ja!"]
REFERENCES = ["Der Hund sieht ein altes Haus.", "Zwei bekannte Bücher liegen hier.", "Nein!"]


@pytest.mark.parametrize(
    ("metric", "theirs", "parts"),
    [
        (bleu, sacrebleu.corpus_bleu, ("nrefs:1", "case:mixed", "tok:13a", "smooth:exp", "version:")),
        (chrf, sacrebleu.corpus_chrf, ("nrefs:1", "nc:6", "version:")),
    ],
)
def test_scores_are_sacrebleus_with_its_signature(metric: Any, theirs: Any, parts: tuple[str, ...]) -> None:
    score = metric(TRANSLATIONS, [REFERENCES])
    assert score.value == pytest.approx(theirs(TRANSLATIONS, [REFERENCES]).score)
    assert [part for part in parts if part not in score.signature] == []
    assert score.signature.endswith(f"version:{sacrebleu.__version__}")


def test_several_references() -> None:
    assert bleu(TRANSLATIONS, [REFERENCES, TRANSLATIONS]).value == pytest.approx(100.0)
    assert "nrefs:2" in bleu(TRANSLATIONS, [REFERENCES, TRANSLATIONS]).signature


@pytest.mark.parametrize("metric", [bleu, chrf])
def test_lengths_that_differ(metric: Any) -> None:
    with pytest.raises(ValueError, match="3 translations, but reference 2 has 2 sentences"):
        metric(TRANSLATIONS, [REFERENCES, REFERENCES[:2]])
    with pytest.raises(ValueError, match="no translations"):
        metric([], [[]])


def test_paired_bootstrap_tells_a_real_difference_from_none() -> None:
    references = [f"Der Hund Nummer {number} sieht ein altes Haus am See." for number in range(60)]
    good = [reference.replace("am See", "am Meer") for reference in references]
    bad = [f"Ein Hund {number} sah Haus." for number in range(60)]
    result = paired_bootstrap(bad, good, [references], samples=200)
    assert result["bleu"].baseline == pytest.approx(bleu(bad, [references]).value)
    assert result["bleu"].value == pytest.approx(bleu(good, [references]).value)
    assert result["chrf"].value == pytest.approx(chrf(good, [references]).value)
    assert result["bleu"].p_value < 0.01
    assert 0 < result["chrf"].interval < 10
    assert "bs:200|seed:12345" in result["bleu"].signature
    same = paired_bootstrap(good, good, [references], samples=200)
    assert same["bleu"].p_value == 1.0
    assert list(same["bleu"].change) == [0, 0]
    with pytest.raises(ValueError, match="60 translations, but reference 1 has 59"):
        paired_bootstrap(bad[1:], good, [references])


def test_the_interval_of_a_difference_is_that_of_whole_corpora_resampled() -> None:
    references = [f"Der Hund Nummer {number} sieht ein altes Haus am See." for number in range(60)]
    systems = [
        [text.replace("sieht ein", "sah das") if number % modulus else text for number, text in enumerate(references)]
        for modulus in (2, 5)
    ]
    result = paired_bootstrap(systems[0], systems[1], [references], samples=400)
    rng = np.random.default_rng(5)
    differences = []
    for _ in range(200):
        drawn = rng.integers(60, size=60)
        one, two = (bleu([texts[n] for n in drawn], [[references[n] for n in drawn]]).value for texts in systems)
        differences.append(two - one)
    assert list(result["bleu"].change) == pytest.approx(np.percentile(differences, [2.5, 97.5]), rel=0.15)
    for each in result.values():
        assert each.change[0] < each.value - each.baseline < each.change[1]


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
    assert [(count.ngram, count.occurrences, count.allowed, count.clipped) for count in first.counts] == [
        (("the",), 7, 2, 2)
    ]
    # Nothing longer matches: 1/2 of 6, 1/4 of 5, 1/8 of 4 are what smoothing leaves.
    assert [precision.value for precision in parts.precisions[1:]] == pytest.approx([0.5 / 6, 0.25 / 5, 0.125 / 4])
    assert parts.score == pytest.approx(100 * math.exp(sum(map(math.log, (2 / 7, 0.5 / 6, 0.25 / 5, 0.125 / 4))) / 4))
    assert parts.score == pytest.approx(bleu(["the the the the the the the"], [["the cat is on the mat"]]).value)
