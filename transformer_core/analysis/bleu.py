"""Sentence BLEU with all its parts, equal to sacreBLEU's value.

BLEU = BP * exp(mean of log p_n, n = 1 to 4) (Papineni et al. 2002), on sacreBLEU's tokens (13a), with its smoothing.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

ORDERS = 4

Ngram = tuple[str, ...]


@dataclass(frozen=True)
class NgramCount:
    """One n-gram of the hypothesis.

    Args:
        ngram: Its tokens.
        occurrences: Number of times that it stands in the hypothesis.
        allowed: Number of times that it stands in the reference; more do not count.
        starts: Positions in the hypothesis, counted from 0.
    """

    ngram: Ngram
    occurrences: int
    allowed: int
    starts: tuple[int, ...]

    @property
    def clipped(self) -> int:
        """Number of matches."""
        return min(self.occurrences, self.allowed)


@dataclass(frozen=True)
class Precision:
    """Precision of all n-grams of one length.

    Args:
        order: n.
        counts: Each n-gram once, in the order of first occurrence in the hypothesis.
        matches: Sum of clipped counts.
        total: n-grams of the hypothesis.
        value: matches / total, or its exponentially smoothed value without a match.
        smoothed: Whether it was smoothed.
    """

    order: int
    counts: tuple[NgramCount, ...]
    matches: int
    total: int
    value: float
    smoothed: bool


@dataclass(frozen=True)
class BleuParts:
    """Parts of the BLEU of one sentence.

    Args:
        hypothesis: Tokens of the translation.
        reference: Tokens of the reference.
        precisions: For n = 1 to 4.
        brevity_penalty: exp(1 - r / c) for a translation shorter than its reference, else 1.
        score: 0 to 100.
    """

    hypothesis: tuple[str, ...]
    reference: tuple[str, ...]
    precisions: tuple[Precision, ...]
    brevity_penalty: float
    score: float

    @property
    def geometric_mean(self) -> float:
        """Geometric mean of the four precisions, 0 to 1; 0 if one of them is 0."""
        values = [precision.value for precision in self.precisions]
        return math.exp(sum(map(math.log, values)) / ORDERS) if all(values) else 0.0


def bleu_parts(hypothesis: str, reference: str) -> BleuParts:
    """Compute BLEU of a translation against one reference."""
    from sacrebleu.metrics.bleu import BLEU

    tokenize = BLEU().tokenizer
    ours, theirs = (tuple(tokenize(text.rstrip()).split()) for text in (hypothesis, reference))
    counted = [_count(ours, theirs, order) for order in range(1, ORDERS + 1)]
    precisions = []
    halvings = 0
    for order, counts in enumerate(counted, start=1):
        matches, total = sum(count.clipped for count in counts), sum(count.occurrences for count in counts)
        # An order without any n-gram has precision 0. An order without a match counts 1/2 of a match, the next 1/4, ...
        smoothed = matches == 0 and total > 0 and any(count.clipped for each in counted for count in each)
        halvings += smoothed
        value = 0.5**halvings / total if smoothed else matches / max(total, 1)
        precisions.append(Precision(order, counts, matches, total, value, smoothed))
    penalty = 1.0
    if len(ours) < len(theirs):
        penalty = math.exp(1 - len(theirs) / len(ours)) if ours else 0.0
    parts = BleuParts(ours, theirs, tuple(precisions), penalty, 0.0)
    return BleuParts(ours, theirs, tuple(precisions), penalty, 100 * penalty * parts.geometric_mean)


def _count(ours: tuple[str, ...], theirs: tuple[str, ...], order: int) -> tuple[NgramCount, ...]:
    allowed = Counter(_ngrams(theirs, order))
    starts: dict[Ngram, list[int]] = {}
    for place, ngram in enumerate(_ngrams(ours, order)):
        starts.setdefault(ngram, []).append(place)
    return tuple(NgramCount(ngram, len(places), allowed[ngram], tuple(places)) for ngram, places in starts.items())


def _ngrams(tokens: tuple[str, ...], order: int) -> list[Ngram]:
    return [tokens[start : start + order] for start in range(len(tokens) - order + 1)]
