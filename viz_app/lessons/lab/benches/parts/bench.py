"""Bench "Layers and words": effects of sub-layers, layers and source words on the translation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.lab import recipe as recipes
from viz_app.lessons.lab.bench import Bench
from viz_app.lessons.lab.comparison import compared
from viz_app.lessons.lab.limits import check_work, pass_flops
from viz_app.lessons.lab.recipe import Recipe
from viz_app.serving.models.translation_service import BEAM
from viz_app.serving.scheduling.single_flight_cache import ShouldStop

if TYPE_CHECKING:
    from transformer_core.analysis.effects.part_effects import PartEffects

FloatArray = npt.NDArray[np.float32]

_CHOSEN = re.compile(r"[pw]([0-9]{1,3})")


def data(context: LessonContext) -> StageData:
    """Return the effects of sub-layers, layers and words, and the translation without the one that is shown."""
    effects, item = _effects(context), _chosen(context)
    return StageData(
        values={
            "tokens": list(effects.run.tokens),
            "text": effects.run.text,
            "layers": context.service.translator.config.num_layers,
            "parts": [[part.stack, part.sublayer, part.layer] for part in effects.parts],
            "words": list(effects.words),
            "chosen": item,
            "without": compared(effects.run.text, _without(context, item)),
        },
        arrays={"effects": _stacked(effects)},
        answers={"chosen": str(context.state.settings.get("chosen", ""))},
    )


def _effects(context: LessonContext) -> PartEffects:
    from transformer_core.analysis.effects.part_effects import SUBLAYERS, part_effects

    translator, translation = context.service.translator, context.result.translation
    passes, parts = pass_flops(context), sum(map(len, SUBLAYERS.values())) * translator.config.num_layers
    check_work((parts + passes.source_length) * passes.whole + passes.target_length * passes.decoder)
    return context.compute_once(
        ("lab.parts", context.source),
        lambda stop: part_effects(translator, context.source, translation, should_stop=stop),
    )


def _stacked(effects: PartEffects) -> FloatArray:
    """Stack the effects: (parts and words, tokens) in nats."""
    return np.concatenate([effects.effects.numpy(), effects.word_effects.numpy()])


def _chosen(context: LessonContext) -> str:
    """Return what was pressed, "p" and number of a part or "w" and number of a word; else the most important word."""
    effects = _effects(context)
    setting = str(context.state.settings.get("chosen", ""))
    match = _CHOSEN.fullmatch(setting)
    if match and int(match[1]) < len(effects.parts if setting[0] == "p" else effects.words):
        return f"{setting[0]}{int(match[1])}"
    return f"w{int(effects.word_effects.sum(dim=1).argmax())}"


def _without(context: LessonContext, item: str) -> str:
    """Translate the sentence without the part or the word."""
    translator, effects, number = context.service.translator, _effects(context), int(item[1:])

    def compute(stop: ShouldStop) -> str:
        from transformer_core.analysis.effects.part_effects import translate_without

        missing = number if item[0] == "w" else effects.parts[number]
        return translate_without(translator, context.source, missing, beam=BEAM, should_stop=stop).text

    return context.compute_once(("lab.parts.without", context.source, item), compute)


def recipe(context: LessonContext) -> Recipe:
    """Give the effects in Python."""
    return recipes.recipe(
        context,
        "from transformer_core.analysis.effects.part_effects import part_effects",
        "ablation = part_effects(translator, source)",
        "ablation.effects  # (parts, tokens), in nats; ablation.word_effects: (words, tokens)",
    )


BENCH = Bench(data=data, recipe=recipe)
