"""Translation quality through sacreBLEU: BLEU and chrF with signatures, and the significance of differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Score:
    """One score of a test set.

    Args:
        value: 0 to 100.
        signature: sacreBLEU's, which makes the number comparable.
    """

    value: float
    signature: str


def bleu(translations: Sequence[str], references: Sequence[Sequence[str]]) -> Score:
    """Corpus BLEU. `references` holds a list of sentences for each reference. Raises ValueError if lengths differ."""
    from sacrebleu.metrics.bleu import BLEU

    return _scored(BLEU(), translations, references)


def chrf(translations: Sequence[str], references: Sequence[Sequence[str]]) -> Score:
    """Corpus chrF2; `references` holds a list of sentences for each reference. Raises ValueError if lengths differ."""
    from sacrebleu.metrics.chrf import CHRF

    return _scored(CHRF(), translations, references)


def _scored(metric: Any, translations: Sequence[str], references: Sequence[Sequence[str]]) -> Score:
    _check(translations, references)
    value = metric.corpus_score(list(translations), [list(r) for r in references]).score
    return Score(value, str(metric.get_signature()))


@dataclass(frozen=True)
class Comparison:
    """Two systems on one test set, by one metric.

    Args:
        baseline: Score of the baseline, 0 to 100.
        value: Score of the other.
        p_value: Of the hypothesis that they are equally good, by paired bootstrap resampling (Koehn 2004).
        baseline_interval: Half the width of the baseline's 95 % confidence interval.
        interval: The same of the other.
        change: 95 % interval of `value` minus `baseline`, on the same resampled test sets.
        signature: sacreBLEU's, with the number of samples and the seed.
    """

    baseline: float
    value: float
    p_value: float
    baseline_interval: float
    interval: float
    change: tuple[float, float]
    signature: str


def paired_bootstrap(
    baseline: Sequence[str], translations: Sequence[str], references: Sequence[Sequence[str]], samples: int = 1_000
) -> dict[str, Comparison]:
    """Paired bootstrap, as sacreBLEU does it.

    Args:
        baseline: Translations of the system to compare with.
        translations: Of the other.
        references: A list of sentences for each reference.
        samples: Resampled test sets.

    Returns:
        `bleu` and `chrf`.

    Raises:
        ValueError: Lengths differ.
    """
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.significance import PairedTest

    _check(translations, [baseline, *references])
    systems, listed = [list(baseline), list(translations)], [list(reference) for reference in references]
    metrics: dict[str, Any] = {"BLEU": BLEU(), "chrF2": CHRF()}
    named: list[tuple[str, Sequence[str]]] = [("baseline", systems[0]), ("system", systems[1])]
    test = PairedTest(named, metrics, listed, test_type="bs", n_samples=samples)
    signatures, scores = test()
    comparisons = {}
    for ours, theirs in (("bleu", "BLEU"), ("chrf", "chrF2")):
        first, second = scores[theirs]
        assert not isinstance(first, str)
        assert not isinstance(second, str)
        assert second.p_value is not None
        assert first.ci is not None
        assert second.ci is not None
        comparisons[ours] = Comparison(
            baseline=float(first.score),
            value=float(second.score),
            # For equal scores sacreBLEU counts resampled differences above 0 only, and calls no difference significant.
            p_value=1.0 if first.score == second.score else float(second.p_value),
            baseline_interval=float(first.ci),
            interval=float(second.ci),
            change=_change(metrics[theirs], systems, listed, samples),
            signature=str(signatures[theirs]),
        )
    return comparisons


def _change(metric: Any, systems: Sequence[Any], references: Sequence[Any], samples: int) -> tuple[float, float]:
    """Return the interval of the score of the second system minus that of the first."""
    size = len(systems[0])
    drawn = np.random.default_rng(0).multinomial(size, np.full(size, 1 / size), size=samples)  # (samples, sentences)
    sums = [(drawn @ np.array(metric._extract_corpus_statistics(each, references))).tolist() for each in systems]
    first, second = (np.array([metric._compute_score_from_stats(row).score for row in each]) for each in sums)
    low, high = np.percentile(second - first, [2.5, 97.5]).tolist()
    return low, high


def _check(translations: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    for number, reference in enumerate(references, start=1):
        if len(reference) != len(translations):
            raise ValueError(f"{len(translations)} translations, but reference {number} has {len(reference)} sentences")
    if not translations:
        raise ValueError("no translations to score")
