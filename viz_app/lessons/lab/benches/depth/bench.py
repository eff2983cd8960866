"""Bench "When does it know?": the logit lens, what the decoder would generate after each of its layers.

Shape legend: L layers, T tokens of the translation, K tokens that are listed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.lab import recipe as recipes
from viz_app.lessons.lab.bench import Bench
from viz_app.lessons.lab.recipe import Recipe

if TYPE_CHECKING:
    from transformer_core.analysis.lens import LogitLens


def data(context: LessonContext) -> StageData:
    """Return the distribution after every layer of the decoder, as far as it is shown."""
    lens = _lens(context)
    return StageData(
        values={"tokens": list(lens.run.tokens), "text": lens.run.text, "top": lens.top_tokens},
        arrays={
            "log_p": lens.log_p.numpy(),
            "rank": lens.rank.numpy().astype(np.int32),
            "entropy": lens.entropy.numpy(),
            "top_log_p": lens.top_log_p.numpy(),
        },
    )


def _lens(context: LessonContext) -> LogitLens:
    from transformer_core.analysis.lens import logit_lens

    translator, translation = context.service.translator, context.result.translation
    return context.compute_once(
        ("lab.lens", context.source),
        lambda stop: logit_lens(translator, context.source, translation, should_stop=stop),
    )


def recipe(context: LessonContext) -> Recipe:
    """Give the lens as a command and in Python."""
    return recipes.recipe(
        context,
        "from transformer_core.analysis.lens import logit_lens",
        "lens = logit_lens(translator, source)",
        "lens.rank  # (layers + 1, tokens), 1 for the most probable token",
        command=("lens",),
        out="lens.npz",
    )


BENCH = Bench(data=data, recipe=recipe)
