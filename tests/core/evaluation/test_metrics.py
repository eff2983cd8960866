"""Scores against sacreBLEU called directly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sacrebleu

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
