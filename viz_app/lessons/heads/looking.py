"""Attention against effect: the source word with most attention, and the word whose removal costs most.

Shape legend: T tokens of the translation, W words of the sentence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from viz_app.lessons.context import LessonContext
from viz_app.lessons.heads.one_by_one import text_to_ablate
from viz_app.serving.scheduling.single_flight_cache import ShouldStop

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class LookingAndDoing:
    """Weights and effects by source word.

    Args:
        tokens: (T,) of the translation.
        words: (W,) of the sentence; `</s>` is none.
        weights: (T, W) encoder-decoder attention, mean over layers and heads, summed over the tokens of a word.
        effects: (T, W) loss of log-probability of the token, in nats, without attention to the word.
    """

    tokens: tuple[str, ...]
    words: tuple[str, ...]
    weights: FloatArray
    effects: FloatArray


def looking_and_doing(context: LessonContext) -> LookingAndDoing:
    """Measure the visitor's sentence, or the first example where it is too long."""
    text = text_to_ablate(context)
    translator = context.service.translator
    translation = context.result.translation if text == context.source else None

    def compute(stop: ShouldStop) -> LookingAndDoing:
        from transformer_core.analysis.attribution import POINTS, attribute
        from transformer_core.analysis.teacher_forced_run import teacher_forced_run

        run = teacher_forced_run(translator, text, translation, points=POINTS)
        looked = attribute(translator, run, method="attention", should_stop=stop)
        left_out = attribute(translator, run, method="leave-one-out", should_stop=stop)
        axis = looked.source_axis
        members = np.array([[w == word and not s for w, s in zip(axis.words, axis.special, strict=True)]
                            for word in range(max(axis.words) + 1)])  # fmt: skip
        members = members[members.any(axis=1)]
        words = ("".join(axis.tokens[at] for at in np.flatnonzero(row)) for row in members)
        by_word = members.T.astype(np.float32)  # (S, W)
        return LookingAndDoing(
            tokens=run.tokens,
            words=tuple(words),
            weights=looked.source.numpy() @ by_word,
            effects=left_out.source.numpy() @ by_word,
        )

    matrices: LookingAndDoing = context.compute_once(("heads.looking", text), compute)
    return matrices


def looking_values(context: LessonContext) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """Return values and arrays for the stage."""
    matrices = looking_and_doing(context)
    values = {"tokens": list(matrices.tokens), "words": list(matrices.words)}
    return values, {"looking_weights": matrices.weights, "looking_effects": matrices.effects}
