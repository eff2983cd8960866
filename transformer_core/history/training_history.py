"""Builder of a training history: the same sentences read by the model at several snapshots of its training.

The target is the same at every snapshot, so that the maps have the same rows: a given one, or the translation of the
last model. Roles are measured on that target, and aligners by occlusion in the last model, so that one rule measures
all snapshots.

Shape legend: M snapshots, L layers, H heads.
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
from transformer_core.evaluation.metrics import bleu
from transformer_core.history.snapshots import History, Role, SentenceHistory, Validation, to_bytes
from transformer_core.model.transformer import Transformer
from transformer_core.text.tokenizer import Encoding, Tokenizer
from transformer_core.training.snapshots import load_snapshot
from transformer_core.training.validation import ValidationSet, greedy_bleu, validation_loss
from transformer_core.translator import Translator

_BATCH_TOKENS = 4_096  # of a batch in which validation loss is measured
_MAX_POINTS = 400  # of the journal

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class ProbeSentence:
    """Sentence that every snapshot reads.

    Args:
        source: The text.
        target: Its translation; None takes the last model's.
    """

    source: str
    target: str | None = None


@dataclass(frozen=True)
class _Probe:
    """Probe sentence in tokens, with the source tokens that each target token depends on."""

    source: str
    target: str
    encoding: Encoding
    ids: tuple[int, ...]
    finished: bool
    links: BoolArray


class HistoryBuilder:
    """Builder of a training history from snapshots.

    Args:
        snapshots: Step -> file of weights, from `training.snapshots.snapshot_files`.
        model: The shape of the model.
        tokenizer: Its vocabulary.
        decoding: Search options for missing targets.
        device: Device of the model.
    """

    def __init__(
        self,
        snapshots: dict[int, Path],
        model: ModelConfig,
        tokenizer: Tokenizer,
        decoding: DecodingConfig,
        device: str = "cpu",
    ) -> None:
        if not snapshots:
            raise ValueError("no snapshots to build a history from")
        self._files = dict(sorted(snapshots.items()))
        self._config, self._tokenizer, self._decoding, self._device = model, tokenizer, decoding, device

    @property
    def steps(self) -> tuple[int, ...]:
        """Steps of the snapshots."""
        return tuple(self._files)

    def translator(self, step: int) -> Translator:
        """Load the model of a step. Raises StateError or ValueError if its weights cannot be read or do not fit."""
        model = Transformer.from_weights(self._config, load_snapshot(self._files[step]))
        return Translator(model.to(self._device), self._tokenizer, self._decoding)

    def build(
        self,
        probes: Sequence[ProbeSentence],
        *,
        facts: dict[str, Any],
        course: dict[str, Any],
        valid: ValidationSet | None = None,
        gold: tuple[str, Sequence[GoldAlignment]] | None = None,
        progress: Callable[[Sequence[int]], Iterable[int]] = iter,
    ) -> History:
        """Measure every snapshot.

        Args:
            probes: The sentences.
            facts: The history's `model`, without the shape.
            course: `updates` of `training.journal.training_curves`.
            valid: Validation set for BLEU and nll at each snapshot.
            gold: Name and gold-aligned sentences for the alignment error at each snapshot.
            progress: Wraps the steps in a progress bar.

        Raises:
            ValueError: There is no sentence, or one has no tokens.
        """
        if not probes:
            raise ValueError("no sentences to read")
        fixed = self._encode(probes)
        maps: list[list[AttentionMaps]] = []  # by snapshot, by sentence
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
            sentences=tuple(_sentence_history(each, [of[i] for of in maps]) for i, each in enumerate(fixed)),
            roles={kind: _roles(maps, kind, [each.links for each in fixed]) for kind in KINDS},
            training=_at(course, self.steps),
            course=_thin(course),
            validation=_validation(valid, scores) if valid else None,
            alignment={"name": gold[0], "sentences": len(gold[1]), "aer": errors} if gold else None,
        )

    def _encode(self, probes: Sequence[ProbeSentence]) -> list[_Probe]:
        """Encode the sentences, with their targets and the links of target tokens to source tokens."""
        last = self.translator(self.steps[-1])
        fixed = []
        for probe in probes:
            encoding = last.encode(probe.source)
            if probe.target is None:
                translation = last.translate(probe.source)
                best = translation.hypotheses[0]
                target, ids, finished = translation.text, tuple(best.ids), best.finished
            else:
                target, ids, finished = probe.target, tuple(last.encode_target(probe.target).ids), True
            if not encoding.ids or not ids:
                raise ValueError(f"{probe.source!r} has no tokens, or no translation")
            links = occlusion_links(last, encoding, ids, finished)
            fixed.append(_Probe(probe.source, target, encoding, ids, finished, links))
        return fixed

    def _score(self, translator: Translator, valid: ValidationSet) -> tuple[float, float]:
        """Return BLEU of greedy translations, and nats per token of the references."""
        nll, tokens = validation_loss(translator.model, valid.pairs, self._tokenizer, _BATCH_TOKENS, torch.float32)
        return greedy_bleu(translator.model, valid.pairs, self._tokenizer)[0], nll / tokens


def _sentence_history(fixed: _Probe, maps: Sequence[AttentionMaps]) -> SentenceHistory:
    axes = {name: getattr(maps[0], name) for name in ("source", "inputs", "outputs")}
    weights = {kind: np.stack([to_bytes(each.weights(kind)) for each in maps]) for kind in KINDS}
    return SentenceHistory(fixed.source, fixed.target, axes, weights)


def _roles(maps: Sequence[Sequence[AttentionMaps]], kind: Kind, links: Sequence[BoolArray]) -> dict[str, Role]:
    """Measure every role of a kind: its positions, and each head's share of them at each step."""
    tables = [find_roles(each, kind, links) for each in maps]
    return {
        role: {
            "places": int(tables[0].places[number]),
            "chance": round(tables[0].of(role, 0, 0).chance, 4),
            "shares": [_rounded(table.shares[number]) for table in tables],
        }
        for number, role in enumerate(tables[0].roles)
    }


def _validation(valid: ValidationSet, scores: Sequence[tuple[float, float]]) -> Validation:
    return {
        "name": valid.name,
        "sentences": len(valid.pairs),
        "signature": bleu(["a"], [["a"]]).signature,
        "bleu": [round(score, 4) for score, _ in scores],
        "nll": [round(nll, 6) for _, nll in scores],
    }


def _at(course: dict[str, Any], steps: Sequence[int]) -> dict[str, list[float | None]]:
    """Select the journal's lines at the given steps; None where it has no line."""
    line = {step: number for number, step in enumerate(course["step"])}
    return {
        name: [course[name][line[step]] if step in line else None for step in steps]
        for name in ("nll", "mean_nll", "learning_rate")
    }


def _thin(course: dict[str, Any]) -> dict[str, list[float]]:
    """Thin out the lines of a long journal, evenly on a logarithmic scale; nothing is interpolated."""
    count = len(course["step"])
    rows: Iterable[int] = range(count)
    if count > _MAX_POINTS:
        rows = sorted({0, *np.unique(np.geomspace(1, count, _MAX_POINTS).round().astype(int) - 1).tolist()})
    return {name: [course[name][row] for row in rows] for name in ("step", "mean_nll", "learning_rate")}


def _rounded(table: npt.NDArray[np.float64]) -> list[Any]:
    rounded: list[Any] = np.round(table, 4).tolist()
    return rounded
