"""The exam: two small decoders, trained with and without the mask, read with and without it, and generate.

Shape legend: H heads of the last layer, T target positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from transformer_core.storage.files import CheckpointError
from viz_app.lessons.context import LessonContext
from viz_app.lessons.small_models import SmallName, small_model, small_model_scores
from viz_app.lessons.small_target import reads_other_language, small_source, small_target
from viz_app.serving.scheduling.single_flight_cache import ShouldStop

if TYPE_CHECKING:
    from transformer_core.attention_maps import AttentionMaps

MODELS: tuple[SmallName, ...] = ("base", "no-mask")
POSITIONS = 16  # shown; of longer translations the first ones

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Reading:
    """Reading of a translation, as far as it is shown.

    Args:
        tokens: T tokens that the rows are to predict, or generate.
        scores: (T,) probability of each of them.
        weights: (H, T, T) decoder self-attention of the last layer.
    """

    tokens: tuple[str, ...]
    scores: FloatArray
    weights: FloatArray


@dataclass(frozen=True, eq=False)
class Candidate:
    """A small decoder in the exam.

    Args:
        masked: It reads the given translation with its mask.
        unmasked: The same without.
        alone: It reads, with its mask, what it generates itself.
        text: What that is.
        layer: Index of the last layer, whose weights these are.
    """

    masked: Reading
    unmasked: Reading
    alone: Reading
    text: str
    layer: int


def exam_values(context: LessonContext) -> tuple[list[dict[str, Any]], dict[str, FloatArray]]:
    """Return values and arrays of each of `MODELS`; neither without the models."""
    try:
        source = small_source(context) if reads_other_language(context) else context.result.translation.source
        target = small_target(context)
        candidates = [(_measured(name), _examined(name, source, target, context)) for name in MODELS]
    except CheckpointError:
        return [], {}
    values = [
        {
            "tokens": list(each.masked.tokens),
            "masked": each.masked.scores.tolist(),
            "unmasked": each.unmasked.scores.tolist(),
            "generated": list(each.alone.tokens),
            "alone": each.alone.scores.tolist(),
            "text": each.text,
            "layer": each.layer,
            "measured": measured,
        }
        for measured, each in candidates
    ]
    arrays = {
        f"exam_{name}_{number}": getattr(each, name).weights
        for number, (_, each) in enumerate(candidates)
        for name in ("masked", "unmasked", "alone")
    }
    return values, arrays


def _examined(name: SmallName, source: str, target: str, context: LessonContext) -> Candidate:
    masked, unmasked = (small_model(name, causal=causal) for causal in (True, False))

    def examine(stop: ShouldStop) -> Candidate:
        translation = masked.translate(source, should_stop=stop)
        maps = translation.attention
        alone = _reading(maps.outputs.tokens, translation.scores, maps)
        forced, leaked = masked.teacher_force(source, target), unmasked.teacher_force(source, target)
        tokens = (*forced.tokens, "</s>")
        under_mask, without = (_reading(tokens, each.scores, each.attention) for each in (forced, leaked))
        return Candidate(under_mask, without, alone, translation.text, len(maps.decoder) - 1)

    return context.compute_once(("masks.exam", name, masked.checkpoint_hash, source, target), examine)


def _reading(tokens: Sequence[str], scores: Sequence[float], maps: AttentionMaps) -> Reading:
    shown = np.exp(np.asarray(scores[:POSITIONS], dtype=np.float32))
    return Reading(tuple(tokens[:POSITIONS]), shown, maps.decoder[-1, :, :POSITIONS, :POSITIONS])


def _measured(name: SmallName) -> dict[str, float | None]:
    """Return nats per token of unseen sentences with and without the mask, and BLEU; None without measurement."""
    try:
        scores = small_model_scores()[name]
    except CheckpointError:
        return {}
    return {"nll_masked": scores.nll_masked, "nll_unmasked": scores.nll_unmasked, "bleu": scores.bleu}
