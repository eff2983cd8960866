"""Contrastive attribution: why this token rather than another one?

Shape legend: T tokens of the translation, S source tokens, M methods.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from transformer_core.analysis.attribution.methods import Contrast, Method
from viz_app.lessons.context import LessonContext
from viz_app.serving.scheduling.single_flight_cache import ShouldStop

FloatArray = npt.NDArray[np.float32]

OFFERED = 4  # other tokens at every step
METHODS: tuple[Method, ...] = ("gradient", "grad-x-input", "leave-one-out", "flow")
SLOW: Method = "integrated-gradients"


@dataclass(frozen=True, eq=False)
class Contrasted:
    """Attribution of the difference between two tokens.

    Args:
        asked: Position and the ids of the two.
        tokens: The two as tokens.
        methods: Those that can be asked so.
        source: (M, S).
        target: (M, T).
    """

    asked: Contrast
    tokens: tuple[str, str]
    methods: tuple[Method, ...]
    source: FloatArray
    target: FloatArray


def runners_up(context: LessonContext) -> list[list[tuple[int, str]]]:
    """List ids and tokens of the most probable alternatives at every step."""
    translator, translation = context.service.translator, context.result.translation

    def compute(stop: ShouldStop) -> list[list[tuple[int, str]]]:
        from transformer_core.analysis.lens import logit_lens

        lens = logit_lens(translator, context.source, translation, listed=OFFERED + 1, should_stop=stop)
        others = [
            [number for number in ids if number != output][:OFFERED]
            for ids, output in zip(lens.top[-1].tolist(), lens.run.outputs.tolist(), strict=True)
        ]
        return [list(zip(ids, translator.tokenizer.tokens(ids), strict=True)) for ids in others]

    return context.compute_once(("lab.trace.others", context.source), compute)


def asked_contrast(context: LessonContext) -> tuple[int, int] | None:
    """Read row and id of the alternative that the visitor asks about; None for one that is not offered."""
    others = runners_up(context)
    row = int(context.state.number("row", 0, 0, len(others) - 1))
    other = int(context.state.number("rather", -1, -1, context.service.translator.config.vocab_size - 1))
    return (row, other) if other in {number for number, _ in others[row]} else None


def contrasted(context: LessonContext, slow: bool) -> Contrasted | None:
    """Compute the contrast for the row that is shown, by every method that has one; None unless asked for."""
    pair = asked_contrast(context)
    if pair is None:
        return None
    row, other = pair
    translator, translation = context.service.translator, context.result.translation
    methods = (*METHODS, SLOW) if slow else METHODS

    def compute(stop: ShouldStop) -> Contrasted:
        from transformer_core.analysis.attribution import POINTS, STEPS, attribute
        from transformer_core.analysis.teacher_forced_run import teacher_forced_run

        run = teacher_forced_run(translator, context.source, translation, points=POINTS)
        contrast = Contrast(row, int(run.outputs[row]), other)
        attributions = [
            attribute(translator, run, method=name, contrast=contrast, steps=STEPS, should_stop=stop)
            for name in methods
        ]
        first, second = translator.tokenizer.tokens([contrast.token, contrast.other])
        source, target = (
            np.stack([getattr(each, side)[0].detach().numpy() for each in attributions])
            for side in ("source", "target")
        )
        return Contrasted(contrast, (first, second), methods, source, target)

    return context.compute_once(("lab.trace.contrast", context.source, row, other, methods), compute)
