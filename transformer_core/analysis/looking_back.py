"""How heads find their jobs: the same sentences through the model as it stood at several moments of its training.

The target is the same at every moment, or the maps of two moments would have other rows: a given one, or what the model
of the last moment translates. Roles are measured against that, and aligners against what hiding source pieces does to
the model of the last moment, so that a head is not measured with a rule that moves.

Shape legend: M moments, L layers, H heads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from transformer_core.analysis.alignment import GoldAlignment, head_alignment_errors
from transformer_core.analysis.roles import find_roles, occlusion_links
from transformer_core.attention_maps import KINDS, AttentionMaps, Kind
from transformer_core.config import DecodingConfig, ModelConfig
from transformer_core.history import History, Remembered, to_bytes
from transformer_core.metrics import bleu
from transformer_core.model import Transformer, load_weights
from transformer_core.tokenizer import Encoding, Tokenizer
from transformer_core.training.moments import load_moment
from transformer_core.training.validation import ValidationSet, greedy_bleu, validation_loss
from transformer_core.translator import Translator

_ROOM = 4_096  # pieces of a batch in which validation loss is measured
_COURSE = 400  # points of the journal at most

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Question:
    """A sentence to look at.

    Args:
        source: The text.
        target: Its translation; None takes what the model of the last moment writes.
    """

    source: str
    target: str | None = None


@dataclass(frozen=True)
class _Fixed:
    """What every moment reads."""

    source: str
    target: str
    encoding: Encoding
    ids: tuple[int, ...]
    finished: bool
    links: BoolArray


class LookingBack:
    """Runs the models of the moments.

    Args:
        moments: Update -> file with the weights, as `training.moments.moments_of` finds them.
        model: The shape of the model.
        tokenizer: Its vocabulary.
        decoding: How the target is searched for.
        device: Where to compute.
    """

    def __init__(
        self,
        moments: dict[int, Path],
        model: ModelConfig,
        tokenizer: Tokenizer,
        decoding: DecodingConfig,
        device: str = "cpu",
    ) -> None:
        if not moments:
            raise ValueError("no moments to look back on")
        self._files = dict(sorted(moments.items()))
        self._config, self._tokenizer, self._decoding, self._device = model, tokenizer, decoding, device

    @property
    def steps(self) -> tuple[int, ...]:
        """The updates of the moments."""
        return tuple(self._files)

    def translator(self, step: int) -> Translator:
        """The model as it stood. Raises StateError or ValueError when the weights cannot be read or do not fit."""
        with torch.random.fork_rng(devices=[]):  # the weights that are drawn here are thrown away
            model = Transformer(self._config)
        load_weights(model, load_moment(self._files[step]))
        return Translator(model.to(self._device), self._tokenizer, self._decoding)

    def history(
        self,
        questions: Sequence[Question],
        *,
        facts: dict[str, Any],
        course: dict[str, Any],
        valid: ValidationSet | None = None,
        gold: tuple[str, Sequence[GoldAlignment]] | None = None,
        progress: Callable[[Sequence[int]], Iterable[int]] = iter,
    ) -> History:
        """Look at all moments.

        Args:
            questions: The sentences.
            facts: Stored as the history's `model`, with the shape added.
            course: `updates` of `training.journal.course`.
            valid: To measure BLEU and nll on at each moment.
            gold: Name and sentences with links made by hand, to measure alignment error at each moment.
            progress: Told the moments before they are gone through.

        Raises:
            ValueError: There is no sentence, or one has no piece.
        """
        if not questions:
            raise ValueError("no sentences to look at")
        fixed = self._fix(questions)
        maps: list[list[AttentionMaps]] = []  # by moment, by sentence
        scores: list[tuple[float, float]] = []
        errors: list[Any] = []
        for step in progress(self.steps):
            translator = self.translator(step)
            maps.append([translator.attention(each.encoding, each.ids, each.finished) for each in fixed])
            if valid:
                scores.append(self._score(translator, valid))
            if gold:
                errors.append(_rounded(head_alignment_errors(translator, gold[1])["output"]))
        config = self._config
        return History(
            model={**facts, "layers": config.num_layers, "heads": config.num_heads, "causal": config.causal},
            steps=self.steps,
            sentences=tuple(_remembered(each, [of[i] for of in maps]) for i, each in enumerate(fixed)),
            roles={kind: _roles(maps, kind, [each.links for each in fixed]) for kind in KINDS},
            training=_at(course, self.steps),
            course=_thin(course),
            validation=_validation(valid, scores) if valid else None,
            alignment={"name": gold[0], "sentences": len(gold[1]), "aer": errors} if gold else None,
        )

    def _fix(self, questions: Sequence[Question]) -> list[_Fixed]:
        """The target of each sentence, and which source piece each piece of it needs."""
        last = self.translator(self.steps[-1])
        fixed = []
        for question in questions:
            encoding = last.encode(question.source)
            if question.target is None:
                found = last.translate(question.source)
                best = found.hypotheses[0]
                target, ids, finished = found.text, tuple(best.ids), best.finished
            else:
                target, ids, finished = question.target, tuple(last.encode_target(question.target).ids), True
            if not encoding.ids or not ids:
                raise ValueError(f"{question.source!r} has no pieces, or no translation")
            links = occlusion_links(last, encoding, ids, finished)
            fixed.append(_Fixed(question.source, target, encoding, ids, finished, links))
        return fixed

    def _score(self, translator: Translator, valid: ValidationSet) -> tuple[float, float]:
        """BLEU of greedy translations, and nats per piece of the given ones."""
        nll, pieces = validation_loss(translator.model, valid.pairs, self._tokenizer, _ROOM, torch.float32)
        return greedy_bleu(translator.model, valid.pairs, self._tokenizer)[0], nll / pieces


def _remembered(fixed: _Fixed, maps: Sequence[AttentionMaps]) -> Remembered:
    axes = {name: getattr(maps[0], name) for name in ("source", "inputs", "outputs")}
    weights = {kind: np.stack([to_bytes(each.weights(kind)) for each in maps]) for kind in KINDS}
    return Remembered(fixed.source, fixed.target, axes, weights)


def _roles(
    maps: Sequence[Sequence[AttentionMaps]], kind: Kind, links: Sequence[BoolArray]
) -> dict[str, dict[str, Any]]:
    """Of every role of a kind how many places it had, and the share of them that each head fits at each moment."""
    tables = [find_roles(each, kind, links) for each in maps]
    return {
        role: {
            "places": int(tables[0].places[number]),
            "chance": round(tables[0].of(role, 0, 0).chance, 4),
            "shares": [_rounded(table.shares[number]) for table in tables],
        }
        for number, role in enumerate(tables[0].roles)
    }


def _validation(valid: ValidationSet, scores: Sequence[tuple[float, float]]) -> dict[str, Any]:
    return {
        "name": valid.name,
        "sentences": len(valid.pairs),
        "signature": bleu(["a"], [["a"]]).signature,
        "bleu": [round(score, 4) for score, _ in scores],
        "nll": [round(nll, 6) for _, nll in scores],
    }


def _at(course: dict[str, Any], steps: Sequence[int]) -> dict[str, list[float | None]]:
    """What the journal has of the updates of the moments; None where it has no line."""
    line = {step: number for number, step in enumerate(course["step"])}
    return {
        name: [course[name][line[step]] if step in line else None for step in steps]
        for name in ("nll", "mean_nll", "learning_rate")
    }


def _thin(course: dict[str, Any]) -> dict[str, list[float]]:
    """Lines of the journal, evenly on a logarithmic scale when there are many; none is made up."""
    count = len(course["step"])
    rows: Iterable[int] = range(count)
    if count > _COURSE:
        rows = sorted({0, *np.unique(np.geomspace(1, count, _COURSE).round().astype(int) - 1).tolist()})
    return {name: [course[name][row] for row in rows] for name in ("step", "mean_nll", "learning_rate")}


def _rounded(table: npt.NDArray[np.float64]) -> list[Any]:
    rounded: list[Any] = np.round(table, 4).tolist()
    return rounded
