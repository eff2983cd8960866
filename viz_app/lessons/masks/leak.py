"""Information leak: two small decoders, trained with and without the mask, each reading with and without it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from transformer_core.storage.files import CheckpointError
from viz_app.lessons.context import LessonContext
from viz_app.lessons.small_models import SmallName, small_model, small_model_scores
from viz_app.lessons.small_target import reads_other_language, small_source, small_target
from viz_app.serving.scheduling.single_flight_cache import ShouldStop

if TYPE_CHECKING:
    from transformer_core.translator import Translator

MODELS: tuple[SmallName, ...] = ("base", "no-mask")


@dataclass(frozen=True)
class DecoderReading:
    """Probabilities and translation of one small decoder.

    Args:
        tokens: The given translation in its tokens, and `</s>`.
        masked: Probability of each of them when the decoder reads the translation with its mask.
        open: The same without.
        alone: What it writes by itself.
        measured: `nll_masked` and `nll_unmasked`, nats per token of sentences that it has not seen, and `bleu` of what
            it writes alone; None where it was not measured.
    """

    tokens: tuple[str, ...]
    masked: tuple[float, ...]
    open: tuple[float, ...]
    alone: str
    measured: dict[str, float | None]


def leak_values(context: LessonContext) -> list[dict[str, Any]]:
    """Return a reading of each of `MODELS` as plain values; empty without the models."""
    try:
        source = small_source(context) if reads_other_language(context) else context.result.translation.source
        target = small_target(context)
        return [asdict(_read_once(name, source, target, context)) for name in MODELS]
    except CheckpointError:
        return []


def _read_once(name: SmallName, source: str, target: str, context: LessonContext) -> DecoderReading:
    masked, unmasked = (small_model(name, causal=causal) for causal in (True, False))
    return context.compute_once(
        ("masks.leak", name, masked.checkpoint_hash, source, target),
        lambda stop: _read(masked, unmasked, source, target, _measured(name), stop),
    )


def _read(
    masked: Translator,
    unmasked: Translator,
    source: str,
    target: str,
    scores: dict[str, float | None],
    should_stop: ShouldStop,
) -> DecoderReading:
    forced, leaked = masked.teacher_force(source, target), unmasked.teacher_force(source, target)
    # Step by step nothing lies ahead, so the mask changes nothing.
    alone = masked.translate(source, should_stop=should_stop)
    return DecoderReading(
        tokens=(*forced.tokens, "</s>"),
        masked=tuple(float(p) for p in np.exp(forced.scores)),
        open=tuple(float(p) for p in np.exp(leaked.scores)),
        alone=alone.text,
        measured=scores,
    )


def _measured(name: SmallName) -> dict[str, float | None]:
    try:
        scores = small_model_scores()[name]
    except CheckpointError:
        return {}
    return {"nll_masked": scores.nll_masked, "nll_unmasked": scores.nll_unmasked, "bleu": scores.bleu}
