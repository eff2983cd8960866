"""Labelled bracketing scores, as evalb computes them with COLLINS.prm.

A constituent is right if the true tree has one with the same label over the same words; equal ones count once each.
Words with a true tag in PUNCTUATION are removed first, and constituents that hold nothing else. TOP does not count. PRT
and ADVP are the same label. Sentences with different words are errors and do not count.
(Sekine and Collins 1997: https://nlp.cs.nyu.edu/evalb/)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from transformer_core.parsing.trees import ROOTS, Leaf, Tree

PUNCTUATION = frozenset({",", ":", "``", "''", "."})
SAME_LABELS = {"PRT": "ADVP"}

Span = tuple[str, int, int]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Matches:
    """Constituent counts of one sentence.

    Args:
        right: In both trees.
        gold: In the true tree.
        predicted: In the other tree.
        is_error: Whether the words differ; then all counts are 0.
    """

    right: int
    gold: int
    predicted: int
    is_error: bool = False

    @property
    def is_exact(self) -> bool:
        """Whether both trees have the same constituents."""
        return not self.is_error and self.right == self.gold == self.predicted


@dataclass(frozen=True)
class Bracketing:
    """Scores of a test set in percent; F1 has a 95 % interval over resampled sentences.

    Args:
        precision: Share of the predicted constituents that are right.
        recall: Share of the true constituents that were found.
        f1: Harmonic mean of both.
        f1_interval: Lower and upper end.
        exact_match: Share of the sentences with the same constituents.
        sentences: Counted sentences.
        errors: Sentences with different words, not counted.
    """

    precision: float
    recall: float
    f1: float
    f1_interval: tuple[float, float]
    exact_match: float
    sentences: int
    errors: int


def match(gold: Tree, predicted: Tree) -> Matches:
    """Compare the constituents of two trees over the same words."""
    if gold.words != predicted.words:
        return Matches(0, 0, 0, is_error=True)
    counted = [leaf.tag not in PUNCTUATION for leaf in gold.leaves()]
    positions = list(accumulate(counted, initial=0))  # of each word among the kept ones
    theirs, ours = (Counter(_spans(tree, positions)) for tree in (gold, predicted))
    return Matches((theirs & ours).total(), theirs.total(), ours.total())


def score_bracketing(
    gold: Sequence[Tree], predicted: Sequence[Tree], *, samples: int = 1_000, seed: int = 12345
) -> Bracketing:
    """Score a test set.

    Args:
        gold: The true trees.
        predicted: A tree for each.
        samples: Resampled test sets for the interval (bootstrap, percentiles).
        seed: Of the resampling.

    Raises:
        ValueError: The numbers of trees differ, or there are none.
    """
    if len(gold) != len(predicted) or not gold:
        raise ValueError(f"{len(predicted)} trees cannot be compared with {len(gold)}")
    matches = [match(true, other) for true, other in zip(gold, predicted, strict=True)]
    valid = [each for each in matches if not each.is_error]
    counts = np.array([(each.right, each.gold, each.predicted) for each in valid], dtype=np.int64).reshape(-1, 3)
    right, true, ours = counts.sum(axis=0)
    return Bracketing(
        precision=_percent(right, ours),
        recall=_percent(right, true),
        f1=_percent(2 * right, true + ours),
        f1_interval=_interval(counts, samples, seed),
        exact_match=_percent(sum(each.is_exact for each in valid), len(valid)),
        sentences=len(valid),
        errors=len(matches) - len(valid),
    )


def _interval(counts: Counts, samples: int, seed: int) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of F1; counts are (sentences, 3)."""
    if not len(counts):
        return 0.0, 0.0
    rng = np.random.default_rng(seed)
    scores = []
    for _ in range(samples):
        right, true, ours = counts[rng.integers(len(counts), size=len(counts))].sum(axis=0)
        scores.append(_percent(2 * right, true + ours))
    low, high = np.percentile(scores, (2.5, 97.5))
    return float(low), float(high)


def _percent(part: int, whole: int) -> float:
    return 100.0 * float(part) / float(whole) if whole else 0.0


def _spans(tree: Tree, positions: Sequence[int]) -> Iterator[Span]:
    """Yield label, start and end of each counted constituent, in kept words."""
    yield from _spans_from(tree, 0, positions)[1]


def _spans_from(tree: Tree, start: int, positions: Sequence[int]) -> tuple[int, list[Span]]:
    """Return the position after a tree that starts at a word, and its spans."""
    end, spans = start, list[Span]()
    for child in tree.children:
        if isinstance(child, Leaf):
            end += 1
        else:
            end, inner = _spans_from(child, end, positions)
            spans.extend(inner)
    first, last = positions[start], positions[end]
    if tree.label not in ROOTS and first < last:
        spans.append((SAME_LABELS.get(tree.label, tree.label), first, last))
    return end, spans
