"""What was measured about a model besides its translations: which heads link words, and what it has understood."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard

Convention = Literal["output", "input"]
CONVENTIONS: tuple[Convention, ...] = ("output", "input")

# Of the probes that `contrast` asks: how often a guess is right.
_CHANCE = {"lingeval": 1 / 2, "contracat": 1 / 3}
_ONLY_ES = ("event", "pleonastic")  # templates of ContraCAT in which the pronoun takes up no noun


@dataclass(frozen=True)
class Aligners:
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
class Answers:
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


def aligners(metrics: Mapping[str, Any], convention: Convention) -> Aligners | None:
    """Alignment error of each head; None when it was not measured.

    Args:
        metrics: Of the checkpoint.
        convention: Whether a row of a map is named after the piece that it produces (output) or reads (input).
    """
    alignment = _mapping(metrics.get("alignment"))
    table = _mapping(alignment.get("aer")).get(convention)
    if not isinstance(table, Sequence) or isinstance(table, str):
        return None
    rates = tuple(tuple(row) if isinstance(row, Sequence) else () for row in table)
    sound = rates and all(row and len(row) == len(rates[0]) and all(map(_is_rate, row)) for row in rates)
    if not sound:
        return None
    sentences = alignment.get("sentences")
    return Aligners(rates, sentences if isinstance(sentences, int) else None)


def answers(metrics: Mapping[str, Any]) -> tuple[Answers, ...]:
    """All questions of the probes that this app knows, put together by what they are about; most asked first."""
    right: defaultdict[tuple[str, float], float] = defaultdict(float)
    asked: defaultdict[tuple[str, float], int] = defaultdict(int)
    for probe, chance in _CHANCE.items():
        for name, group in _mapping(_mapping(_mapping(metrics.get("probes")).get(probe)).get("groups")).items():
            share, count = (_mapping(group).get(key) for key in ("right", "asked"))
            if _is_rate(share) and isinstance(count, int) and count > 0:
                about = _about(probe, name), chance
                right[about] += share * count
                asked[about] += count
    put = (Answers(about, count, right[about, chance] / count, chance) for (about, chance), count in asked.items())
    return tuple(sorted(put, key=lambda one: (-one.chance, -one.asked)))


def _about(probe: str, group: str) -> str:
    """What a group of questions is about: LingEval names it first, ContraCAT nests its templates."""
    if probe == "lingeval":
        return group.partition(".")[0]
    return "pronoun_es" if any(part in _ONLY_ES for part in group.split("/")) else "pronoun"


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _is_rate(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1
