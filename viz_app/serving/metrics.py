"""What a checkpoint's `metrics.json` tells, read once into one checked value.

The file is written by whoever made the checkpoint, so nothing of it is taken on trust: what is not of the right form is
left out and named, and everything else counts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

Convention = Literal["output", "input"]
CONVENTIONS: tuple[Convention, ...] = ("output", "input")
Fact = str | int | float

Value = TypeVar("Value")

_CODE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")  # of BCP 47, as far as models need it
_LARGEST = 1e15
_DEEPEST = 8  # scores may be grouped, but a file may not choose how deep we look
_EVERYDAY = "tatoeba"
# What a test set holds, by how its name begins: a label of the table [model].
_HOLDS = {
    "tatoeba": "everyday",
    "multi30k": "captions",
    "chat": "chat",
    "ntrex": "news",
    "newstest": "news",
    "flores": "encyclopedia",
    "generaltest": "mixed",
}
# Keys that only group other keys and say nothing to a reader.
_GROUPS = frozenset({"bleu", "evaluation", "metrics", "results", "scores", "test", "tests"})
# Of the probes that `contrast` asks: how often a guess is right.
_CHANCE = {"lingeval": 1 / 2, "contracat": 1 / 3}
_ONLY_ES = ("event", "pleonastic")  # templates of ContraCAT in which the pronoun takes up no noun


@dataclass(frozen=True)
class Languages:
    """What a model reads and writes: BCP 47 codes, for labels, fonts and screen readers."""

    source: str
    target: str


@dataclass(frozen=True)
class Score:
    """The quality measured on one test set.

    Args:
        name: The test set.
        bleu: 0 to 100.
        chrf: 0 to 100, or None.
        signature: sacreBLEU's, which makes the numbers comparable; empty when unknown.
        development: Whether settings were chosen on it, so that it says less than a test set.
    """

    name: str
    bleu: float
    chrf: float | None
    signature: str
    development: bool = False

    @property
    def content(self) -> str | None:
        """Key of the label that says what its sentences are; None when this app does not know the set."""
        return next((label for start, label in _HOLDS.items() if self.name.lower().startswith(start)), None)

    @property
    def is_unseen_only(self) -> bool:
        """Whether only those of its sentences count whose reference does not occur in the training text."""
        return self.name.endswith("-unseen")


@dataclass(frozen=True)
class AlignmentErrors:
    """How well each head of encoder-decoder attention links words.

    Args:
        rates: Alignment error rate, 0 to 1, by layer and head.
        sentences: Sentences linked by hand that it was measured on; None when unknown.
    """

    rates: tuple[tuple[float, ...], ...]
    sentences: int | None

    @property
    def best(self) -> tuple[int, int]:
        """Layer and head with the fewest errors, from 0."""
        places = [(layer, head) for layer, row in enumerate(self.rates) for head in range(len(row))]
        return min(places, key=lambda place: self.rates[place[0]][place[1]])


@dataclass(frozen=True)
class ContrastScores:
    """How often the model found a right translation likelier than one with a single error.

    Args:
        about: What the questions were about: the name of a group of them.
        asked: How many there were.
        right: Share of right answers, 0 to 1.
        chance: Share of right answers of somebody who guesses, 0 to 1.
    """

    about: str
    asked: int
    right: float
    chance: float


@dataclass(frozen=True, kw_only=True)
class ModelCard:
    """Scores and facts of a checkpoint; of what was not measured, nothing.

    Args:
        languages: What it reads and writes.
        training: How it was trained: plain values by name.
        scores: Every measurement that has a BLEU, wherever it stands, in the order of the file.
        aligners: Alignment error of each head, by whether a row of a map is named after the piece that it produces
            (output) or reads (input).
        best_head: Layer and head, from 0, that align best by outputs.
        answers: All questions of the probes that this app knows, together by what they are about; most asked first.
        unreadable: Parts of the file that have another form than they should, as "alignment.best_head".
    """

    languages: Languages | None = None
    training: Mapping[str, Fact] = field(default_factory=dict)
    scores: tuple[Score, ...] = ()
    aligners: Mapping[Convention, AlignmentErrors] = field(default_factory=dict)
    best_head: tuple[int, int] | None = None
    answers: tuple[ContrastScores, ...] = ()
    unreadable: tuple[str, ...] = ()

    @classmethod
    def from_metrics(cls, metrics: Mapping[str, Any]) -> ModelCard:
        """From what `metrics.json` holds; never fails."""
        part = _Parts(metrics)
        return cls(
            languages=part.get(_languages, "languages"),
            training=part.get(_facts, "training") or {},
            scores=tuple(_scores(metrics, (), part)),
            aligners=dict(_aligners(part)),
            best_head=part.get(_place, "alignment", "best_head"),
            answers=_answers(part),
            unreadable=tuple(dict.fromkeys(part.unreadable)),
        )

    @property
    def everyday_bleu(self) -> float | None:
        """BLEU on everyday sentences; None when nobody has measured it."""
        return next((score.bleu for score in self.scores if _EVERYDAY in score.name.lower()), None)

    @property
    def trained_pieces(self) -> int | None:
        """Pieces of the longest sentence that training let pass; None when neither a fact nor a preset tells."""
        from transformer_core.presets import PRESETS

        preset = PRESETS.get(str(self.training.get("preset")))
        pieces = self.training_number("max_pieces", preset.training.max_pieces if preset else 0)
        return int(pieces) or None

    def training_number(self, name: str, default: float) -> float:
        """A fact of the training that is a number of at least 0; the default when it tells none."""
        value = self.training.get(name)
        return default if isinstance(value, bool | str) or value is None or value < 0 else value


class _Parts:
    """The parts of the file by their paths; those of another form than they should have are noted."""

    def __init__(self, metrics: Mapping[str, Any]) -> None:
        self._metrics = metrics
        self.unreadable: list[str] = []

    def get(self, read: Callable[[Any], Value | None], *path: str) -> Value | None:
        """A part as `read` understands it; None where it is missing, or noted because `read` gives None."""
        value: Any = self._metrics
        for depth, name in enumerate(path):
            if not isinstance(value, Mapping):
                self.note(path[:depth])
                return None
            if name not in value:
                return None
            value = value[name]
        found = read(value)
        if found is None:
            self.note(path)
        return found

    def note(self, path: tuple[str, ...]) -> None:
        """This part could not be read."""
        self.unreadable.append(".".join(path))


def _languages(part: object) -> Languages | None:
    codes = [part.get(side) for side in ("source", "target")] if isinstance(part, Mapping) else [None]
    return Languages(*codes) if all(isinstance(code, str) and _CODE.fullmatch(code) for code in codes) else None


def _facts(part: object) -> dict[str, Fact] | None:
    if not isinstance(part, Mapping):
        return None
    return {name: value for name, value in part.items() if isinstance(value, str | bool) or _number(value) is not None}


def _place(part: object) -> tuple[int, int] | None:
    layer, head = (_count(part.get(name)) for name in ("layer", "head")) if isinstance(part, Mapping) else (None, None)
    return None if layer is None or head is None else (layer, head)


def _rates(part: object) -> tuple[tuple[float, ...], ...] | None:
    rows = part if isinstance(part, list | tuple) and all(isinstance(row, list | tuple) for row in part) else ()
    sound = rows and all(row and len(row) == len(rows[0]) and None not in map(_rate, row) for row in rows)
    return tuple(map(tuple, rows)) if sound else None


def _group(part: object) -> tuple[float, int] | None:
    right, asked = (part.get("right"), part.get("asked")) if isinstance(part, Mapping) else (None, None)
    rate, count = _rate(right), _count(asked)
    return None if rate is None or count is None else (rate, count)


def _aligners(part: _Parts) -> Iterator[tuple[Convention, AlignmentErrors]]:
    sentences = part.get(_count, "alignment", "sentences")
    for convention in CONVENTIONS:
        if (rates := part.get(_rates, "alignment", "aer", convention)) is not None:
            yield convention, AlignmentErrors(rates, sentences)


def _answers(part: _Parts) -> tuple[ContrastScores, ...]:
    right: defaultdict[tuple[str, float], float] = defaultdict(float)
    asked: defaultdict[tuple[str, float], int] = defaultdict(int)
    for probe, chance in _CHANCE.items():
        for name in part.get(_names, "probes", probe, "groups") or ():
            share, count = part.get(_group, "probes", probe, "groups", name) or (0.0, 0)
            if count:
                about = _about(probe, name), chance
                right[about] += share * count
                asked[about] += count
    put = (
        ContrastScores(about, count, right[about, chance] / count, chance) for (about, chance), count in asked.items()
    )
    return tuple(sorted(put, key=lambda one: (-one.chance, -one.asked)))


def _about(probe: str, group: str) -> str:
    """What a group of questions is about: LingEval names it first, ContraCAT nests its templates."""
    if probe == "lingeval":
        return group.partition(".")[0]
    return "pronoun_es" if any(part in _ONLY_ES for part in group.split("/")) else "pronoun"


def _scores(value: Mapping[str, Any], path: tuple[str, ...], part: _Parts) -> Iterator[Score]:
    if "bleu" in value:
        bleu = _measurement(value["bleu"])
        if bleu is not None:
            named = [name for name in path if name not in _GROUPS]
            own = value["bleu"] if isinstance(value["bleu"], Mapping) else value
            signature = str(own.get("signature") or value.get("bleu_signature") or "").encode(errors="replace").decode()
            chrf, development = _measurement(value.get("chrf")), value.get("part") == "validation"
            yield Score(" ".join(named) or "test", bleu, chrf, signature, development)
        elif not isinstance(value["bleu"], Mapping):  # one may group the scores of several sets
            part.note((*path, "bleu"))
    for name, inner in value.items():
        if isinstance(inner, Mapping) and len(path) < _DEEPEST:
            yield from _scores(inner, (*path, name), part)


def _measurement(value: object) -> float | None:
    number = _number(value.get("value", value.get("score")) if isinstance(value, Mapping) else value)
    return float(number) if number is not None and 0 <= number <= 100 else None


def _names(value: object) -> list[str] | None:
    return list(value) if isinstance(value, Mapping) else None


def _number(value: object) -> float | None:
    """A number that can be reckoned with: JSON as Python reads it also has NaN, infinity and endless integers."""
    real = isinstance(value, int | float) and not isinstance(value, bool)
    return value if real and -_LARGEST <= value <= _LARGEST else None  # type: ignore[operator, return-value]


def _rate(value: object) -> float | None:
    number = _number(value)
    return number if number is not None and 0 <= number <= 1 else None


def _count(value: object) -> int | None:
    number = _number(value)
    return int(number) if isinstance(value, int) and number is not None and number >= 0 else None
