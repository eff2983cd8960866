"""Benches "When does it know?" and "The encoder stopped early": what the model would generate at each of its layers.

Shape legend: L layers, T tokens of the translation, K tokens that are listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from transformer_core.analysis.ablation import word_diff
from transformer_core.evaluation.metrics import chrf
from viz_app.figures import CurvesFigure, MatrixFigure, Series
from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.lab import recipe as recipes
from viz_app.lessons.lab.limits import PassFlops, check_work
from viz_app.lessons.lab.recipe import Recipe
from viz_app.serving.models.translation_service import BEAM

if TYPE_CHECKING:
    from transformer_core.analysis.lens import LogitLens


def data(context: LessonContext) -> StageData:
    """The distribution after every layer of the decoder, as far as it is shown."""
    found, tokenizer = _lens(context), context.service.translator.tokenizer
    top = [[tokenizer.tokens(ids) for ids in layer] for layer in found.top.tolist()]
    return StageData(
        values={"tokens": list(found.run.tokens), "text": found.run.text, "top": top},
        arrays={
            "log_p": found.log_p.numpy(),
            "rank": found.rank.numpy().astype(np.int32),
            "entropy": found.entropy.numpy(),
            "top_log_p": found.top_log_p.numpy(),
        },
    )


def _lens(context: LessonContext) -> LogitLens:
    from transformer_core.analysis.lens import logit_lens

    translator, translation = context.service.translator, context.result.translation
    return context.compute_once(
        ("lab.lens", context.source),
        lambda stop: logit_lens(translator, context.source, translation, should_stop=stop),
    )


def figure(context: LessonContext) -> MatrixFigure:
    """The probability of every token of the translation after every layer."""
    t, found = context.t, _lens(context)
    return MatrixFigure(
        values=np.exp(found.log_p.numpy()).T,
        row_labels=found.run.tokens,
        row_title=t("lesson_lab.token"),
        column_title=t("lesson_lab.after_layer"),
        scale_title=t("lesson_lab.probability"),
        language=t.language,
    )


def recipe(context: LessonContext) -> Recipe:
    """The lens from a shell and in Python."""
    return Recipe(
        recipes.command("lens", context, out="lens.npz"),
        recipes.python(
            context,
            ["from transformer_core.analysis.lens import logit_lens"],
            "found = logit_lens(translator, source)",
            "found.rank  # (layers + 1, tokens), 1 for the most probable token",
        ),
    )


class Early:
    """The other bench, with the same functions as a module."""

    @staticmethod
    def data(context: LessonContext) -> StageData:
        """What the decoder generates from the encoder's state after each layer, the words that differ, and chrF."""
        texts = _early(context)
        rows = [word_diff(texts[-1].split(), text.split())[1] for text in texts]
        return StageData(values={"rows": rows, "chrf": _likeness(texts)})

    @staticmethod
    def figure(context: LessonContext) -> CurvesFigure:
        """How much each translation is like the final one."""
        t, texts = context.t, _early(context)
        return CurvesFigure(
            series=(Series(x=range(len(texts)), y=_likeness(texts), marked=True),),
            x_title=t("lesson_lab.encoder_layer"),
            y_title=t("lesson_lab.likeness"),
            language=t.language,
            caption=t("lesson_lab.early_caption", text=texts[-1]),
        )

    @staticmethod
    def recipe(context: LessonContext) -> Recipe:
        """The translations from a shell and in Python."""
        return Recipe(
            recipes.command("lens", context, out="lens.npz"),
            recipes.python(
                context,
                ["from transformer_core.analysis.lens import decoder_lens"],
                "[translation.text for translation in decoder_lens(translator, source)]",
            ),
        )


def _likeness(texts: Sequence[str]) -> list[float]:
    """How much each translation is like the last one: chrF, 0 to 100."""
    return [chrf([text], [[texts[-1]]]).value for text in texts]


def _early(context: LessonContext) -> tuple[str, ...]:
    from transformer_core.analysis.lens import decoder_lens

    translator, source = context.service.translator, len(context.tokens)
    longest = PassFlops.from_lengths(translator.config, source, source + translator.decoding.extra_length)
    check_work((translator.config.num_layers + 1) * (longest.encoder + BEAM * longest.decoder))
    return context.compute_once(
        ("lab.early", context.source),
        lambda stop: tuple(each.text for each in decoder_lens(translator, context.source, beam=BEAM, should_stop=stop)),
    )
