"""Bench "The encoder stopped early": translations from the encoder's state after each layer."""

from __future__ import annotations

from collections.abc import Sequence

from transformer_core.evaluation.metrics import chrf
from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.lab import recipe as recipes
from viz_app.lessons.lab.bench import Bench
from viz_app.lessons.lab.comparison import compared
from viz_app.lessons.lab.limits import PassFlops, check_work
from viz_app.lessons.lab.recipe import Recipe
from viz_app.serving.models.translation_service import BEAM


def data(context: LessonContext) -> StageData:
    """Return the translation from the encoder's state after each layer, the words that differ, and chrF."""
    texts = _early(context)
    rows = [compared(texts[-1], text)["words"] for text in texts]
    return StageData(values={"rows": rows, "chrf": _likeness(texts)})


def recipe(context: LessonContext) -> Recipe:
    """Give the translations as a command and in Python."""
    return recipes.recipe(
        context,
        "from transformer_core.analysis.lens import decoder_lens",
        "[translation.text for translation in decoder_lens(translator, source)]",
        command=("decoder-lens",),
        out="early.npz",
    )


def _likeness(texts: Sequence[str]) -> list[float]:
    """Compare each translation with the last one: chrF, 0 to 100."""
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


BENCH = Bench(data=data, recipe=recipe)
