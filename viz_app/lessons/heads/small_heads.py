"""Small models of the lesson on heads: one head against eight, trained alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from transformer_core.storage.files import CheckpointError
from viz_app.lessons.context import LessonContext
from viz_app.lessons.small_models import SmallName, small_model, small_model_scores
from viz_app.lessons.small_target import small_source
from viz_app.serving.scheduling.single_flight_cache import ShouldStop

MODELS: dict[str, SmallName] = {"base": "base", "one": "one-head"}


def small_heads(
    context: LessonContext, target: str, most: int
) -> tuple[dict[str, dict[str, Any]] | None, dict[str, npt.NDArray[np.uint8]]]:
    """Return scores of both models, and the encoder-decoder maps of their last layers under teacher forcing.

    Args:
        context: The visitor; the models read the sentence.
        target: Its translation, the same for both.
        most: Positions that are shown.

    Returns:
        Plain values, or None while there are no such models or the sentence is too long for them; and the maps as
        bytes, (H, Q, K), `small_base` and `small_one`.
    """
    from transformer_core.translator import SourceTooLong  # with torch, which takes seconds to import

    try:
        scores = small_model_scores()
        read = {name: _read(model, context, target, most) for name, model in MODELS.items()}
    except (CheckpointError, SourceTooLong):
        return None, {}
    values = {
        name: {
            "bleu": scores[MODELS[name]].bleu,
            "heads": len(weights),
            "source": list(keys),
            "outputs": list(queries),
        }
        for name, (weights, queries, keys) in read.items()
    }
    return values, {f"small_{name}": weights for name, (weights, _, _) in read.items()}


def _read(
    name: SmallName, context: LessonContext, target: str, most: int
) -> tuple[npt.NDArray[np.uint8], tuple[str, ...], tuple[str, ...]]:
    model, text = small_model(name), small_source(context)

    def compute(_: ShouldStop) -> tuple[npt.NDArray[np.uint8], tuple[str, ...], tuple[str, ...]]:
        maps = model.teacher_force(text, target).attention
        weights = np.round(maps.cross[-1, :, :most, :most] * 255).astype(np.uint8)
        return weights, maps.outputs.tokens[:most], maps.source.tokens[:most]

    return context.compute_once(("heads.small", name, model.checkpoint_hash, text, target), compute)
