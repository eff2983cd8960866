"""How good translations are: BLEU and chrF through sacreBLEU with their signatures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


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

    _check(translations, references)
    metric = BLEU()
    value = metric.corpus_score(list(translations), [list(r) for r in references]).score
    return Score(value, str(metric.get_signature()))


def chrf(translations: Sequence[str], references: Sequence[Sequence[str]]) -> Score:
    """Corpus chrF2; `references` holds a list of sentences for each reference. Raises ValueError if lengths differ."""
    from sacrebleu.metrics.chrf import CHRF

    _check(translations, references)
    metric = CHRF()
    value = metric.corpus_score(list(translations), [list(r) for r in references]).score
    return Score(value, str(metric.get_signature()))


def _check(translations: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    for number, reference in enumerate(references, start=1):
        if len(reference) != len(translations):
            raise ValueError(f"{len(translations)} translations, but reference {number} has {len(reference)} sentences")
    if not translations:
        raise ValueError("no translations to score")
