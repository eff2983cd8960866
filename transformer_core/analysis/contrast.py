"""Contrastive pairs: does a model prefer the right translation to one with a single error?

Each candidate gets its log-probability, and the right one must have the largest (Sennrich 2017, "How Grammatical is
Character-level Neural Machine Translation?"). A shorter candidate has an advantage.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from transformer_core.analysis.teacher_forced_run import fits
from transformer_core.data import DataError, read_columns
from transformer_core.translator import Translator

_PRONOUNS = ("m", "f", "n")  # order of the candidates of ContraCAT: er, sie, es
_BATCH = 32  # candidates


@dataclass(frozen=True)
class Contrast:
    """One contrastive question.

    Args:
        group: Phenomenon, such as the agreement of subject and verb.
        source: Sentence.
        candidates: Translations.
        right: Number of the right one, from 0.
    """

    group: str
    source: str
    candidates: tuple[str, ...]
    right: int


@dataclass(frozen=True)
class Share:
    """Result over the questions of a group.

    Args:
        right: Questions with the largest log-probability for the right candidate, ties not counted.
        asked: Questions.
        chance: Right answers expected from guessing.
        left_out: Questions with an empty source or a text that is too long for the model.
    """

    right: int
    asked: int
    chance: float
    left_out: int


def read_lingeval(path: Path | str) -> Iterator[Contrast]:
    """Read a tsv of phenomenon, source, right and wrong translation (LingEval97, Sennrich 2017).

    Raises:
        DataError: A line has too few columns, or two equal translations.
    """
    for number, (group, source, right, wrong) in enumerate(read_columns(path, (0, 1, 2, 3)), start=1):
        if right == wrong:
            raise DataError(f"{path}, line {number}: the correct and the incorrect translation are the same")
        yield Contrast(group, source, (right, wrong), 0)


def read_contracat(path: Path | str) -> Iterator[Contrast]:
    """Read a tsv of template, source, translations with *er*, *sie*, *es*, and the gender of the right one: m, f or n.

    Questions without exactly one right answer ("-", or two letters) are skipped (Stojanovski et al. 2020, ContraCAT).

    Raises:
        DataError: A line has too few columns, or an invalid gender.
    """
    for number, (group, source, *candidates, answer) in enumerate(read_columns(path, range(6)), start=1):
        if not answer or not set(answer) <= {*_PRONOUNS, "-"}:
            raise DataError(f"{path}, line {number}: the answer is {answer!r}, but must be m, f, n, two of them or -")
        if answer in _PRONOUNS:
            yield Contrast(group, source, tuple(candidates), _PRONOUNS.index(answer))


FORMS: dict[str, Callable[[Path | str], Iterator[Contrast]]] = {"lingeval": read_lingeval, "contracat": read_contracat}


def shares(
    translator: Translator,
    contrasts: Sequence[Contrast],
    tracked: Callable[[Iterable[Sequence[Contrast]]], Iterable[Sequence[Contrast]]] = lambda batches: batches,
) -> dict[str, Share]:
    """Count right answers by group, in the order of their first questions.

    Args:
        translator: The model.
        contrasts: The questions.
        tracked: Wraps the batches in a progress bar.
    """
    asked: dict[str, list[Contrast]] = defaultdict(list)
    fitting: list[Contrast] = []
    for contrast in contrasts:
        asked[contrast.group].append(contrast)
        if fits(translator, contrast.source, *contrast.candidates):
            fitting.append(contrast)
    right: dict[str, list[bool]] = defaultdict(list)
    fitting.sort(key=_length)  # similar lengths in one batch: little padding
    for batch in tracked(_batches(fitting)):
        pairs = [(contrast.source, candidate) for contrast in batch for candidate in contrast.candidates]
        scores = iter(translator.score(pairs))
        for contrast in batch:
            right[contrast.group].append(_is_right(contrast, [next(scores) for _ in contrast.candidates]))
    return {
        group: Share(
            right=sum(right[group]),
            asked=len(right[group]),
            chance=sum(1 / len(each.candidates) for each in all_asked) / len(all_asked) * len(right[group]),
            left_out=len(all_asked) - len(right[group]),
        )
        for group, all_asked in asked.items()
    }


def _is_right(contrast: Contrast, scores: Sequence[float]) -> bool:
    best = max(score for number, score in enumerate(scores) if number != contrast.right)
    return scores[contrast.right] > best


def _length(contrast: Contrast) -> int:
    return max(len(text) for text in (contrast.source, *contrast.candidates))


def _batches(contrasts: Sequence[Contrast]) -> list[list[Contrast]]:
    batches: list[list[Contrast]] = []
    room = 0
    for contrast in contrasts:
        if room < len(contrast.candidates):
            batches.append([])
            room = _BATCH
        batches[-1].append(contrast)
        room -= len(contrast.candidates)
    return batches
