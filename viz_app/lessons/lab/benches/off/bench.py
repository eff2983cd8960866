"""Bench "Switch off": the effect of each head on the translation, and the translation without some heads.

Of a large model it measures the heads of some layers and estimates the others, see `head_layers`.

Shape legend: N heads in the order of `ablation.all_heads`; T tokens of the translation.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from transformer_core.analysis.ablation import Head, all_heads, translate_without
from transformer_core.attention_maps import KINDS, Kind
from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.lab import recipe as recipes
from viz_app.lessons.lab.bench import Bench
from viz_app.lessons.lab.benches.off.example_pairs import example_pairs
from viz_app.lessons.lab.benches.off.head_layers import (
    Layer,
    all_layers,
    asked_layers,
    estimates,
    flops_of_layers,
    is_by_layer,
)
from viz_app.lessons.lab.heads import named_head, set_of_bits
from viz_app.lessons.lab.limits import check_work, pass_flops
from viz_app.lessons.lab.recipe import Recipe
from viz_app.serving.models.translation_service import BEAM
from viz_app.serving.scheduling.single_flight_cache import ShouldStop

if TYPE_CHECKING:
    from transformer_core.analysis.effects.head_effects import Change, HeadEffects

FloatArray = npt.NDArray[np.float32]

CHANGES = ("zero", "mean", "resample")
DRAWS = 4  # of resample and of random vectors; each draw costs as much as zero
_PASSES_OF_CHECK = 73  # see `head_faithfulness`: 6 orders of up to 12 heads, and none
_NO_TOKEN = -1


def data(context: LessonContext) -> StageData:
    """Return the effects of all heads, random vectors if asked for, and the translation without the chosen heads."""
    change, frozen, banded = _settings(context)
    checked = context.state.settings.get("check") is True
    ablation = _effects(context, change, frozen)
    effects = _stacked(ablation)
    arrays = {"effects": effects, "log_p": ablation.run.log_p.numpy()}
    by_layer, (layers, measured) = is_by_layer(context), asked_layers(context)
    if by_layer:
        arrays["estimates"] = estimates(context)
    if banded:
        draws = _draws(_effects(context, "random", frozen))
        arrays |= {"low": draws.min(axis=0), "high": draws.max(axis=0)}
        totals = draws.sum(axis=2)
        arrays |= {"total_low": totals.min(axis=0), "total_high": totals.max(axis=0)}
    digits, off = set_of_bits(context, "off", all_heads(context.service.translator))
    without = _without(context, off)
    config = context.service.translator.config
    return StageData(
        values={
            "tokens": list(ablation.run.tokens),
            "text": ablation.run.text,
            "layers": config.num_layers,
            "heads": config.num_heads,
            "draws": DRAWS,
            "measured": [each in measured for each in all_layers(context)] if by_layer else None,
            "without": without,
            "check": _check(context, ablation, change, frozen) if checked else None,
        },
        arrays=arrays,
        answers={"change": change, "frozen": frozen, "band": banded, "check": checked, "off": digits, "layers": layers},
    )


def _settings(context: LessonContext) -> tuple[Change, bool, bool]:
    settings = context.state.settings
    change: Any = context.state.choice("change", CHANGES[0], CHANGES)
    return change, settings.get("frozen") is True, settings.get("band") is True


def _effects(context: LessonContext, change: Change, frozen: bool) -> HeadEffects:
    """Measure all heads; NaN for layers that are not measured."""
    _, layers = asked_layers(context)
    if not is_by_layer(context):
        return _effects_of(context, change, frozen, None)
    return _joined([_effects_of(context, change, frozen, each) for each in layers])


def _effects_of(context: LessonContext, change: Change, frozen: bool, layer: Layer | None) -> HeadEffects:
    """Measure the heads of a layer, or all."""
    from transformer_core.analysis.effects.head_effects import head_effects
    from transformer_core.hooks.points import Captured

    translator, translation = context.service.translator, context.result.translation
    drawn = DRAWS if change in ("resample", "random") else 1
    check_work(drawn * flops_of_layers(context, all_layers(context) if layer is None else [layer]))
    others = example_pairs(context) if change in ("mean", "resample") else ()

    def compute(stop: ShouldStop) -> HeadEffects:
        ablation = head_effects(
            translator,
            context.source,
            translation,
            change=change,
            others=others,
            draws=DRAWS,
            frozen_norm=frozen,
            only=None if layer is None else {layer},
            should_stop=stop,
        )
        return ablation if layer is None else replace(ablation, run=replace(ablation.run, captured=Captured()))

    key = ("lab.effects", context.source, change, frozen)
    return context.compute_once(key if layer is None else (*key, layer), compute)


def _joined(results: list[HeadEffects]) -> HeadEffects:
    """Join results of which at most one is a number at each place, and the others NaN."""
    import torch
    from torch import Tensor

    def join(parts: list[dict[Kind, Tensor]]) -> dict[Kind, Tensor]:
        return {kind: torch.stack([part[kind] for part in parts]).nanmean(dim=0) for kind in KINDS}

    drawn = [each.draws for each in results if each.draws is not None]
    return replace(results[0], effects=join([each.effects for each in results]), draws=join(drawn) if drawn else None)


def _check(context: LessonContext, ablation: HeadEffects, change: Change, frozen: bool) -> dict[str, list[float]]:
    """Measure how far the log-probability falls without the first heads, random ones and the last heads of the order.

    The order is by effect, or by estimate where only some heads are measured.
    """
    key: tuple[object, ...] = ("lab.effects.check", context.source, change, frozen)
    if is_by_layer(context):
        from torch import from_numpy

        key = ("lab.effects.estimates.check", context.source)
        config = context.service.translator.config
        shape = (len(KINDS), config.num_layers, config.num_heads, 1)
        ablation = replace(ablation, effects=dict(zip(KINDS, from_numpy(estimates(context)).view(shape), strict=True)))
    check_work(_PASSES_OF_CHECK * pass_flops(context).whole)

    def compute(stop: ShouldStop) -> dict[str, list[float]]:
        from transformer_core.analysis.effects.cumulative_ablation import head_faithfulness

        check = head_faithfulness(context.service.translator, ablation, should_stop=stop)
        return {name: getattr(check, name).tolist() for name in ("first", "random", "last")}

    return context.compute_once(key, compute)


def _stacked(ablation: HeadEffects) -> FloatArray:
    """(N, T) nats."""
    return np.concatenate([ablation.effects[kind].flatten(0, 1).numpy() for kind in KINDS])


def _draws(ablation: HeadEffects) -> FloatArray:
    """(draws, N, T) nats."""
    assert ablation.draws is not None
    return np.concatenate([ablation.draws[kind].flatten(1, 2).numpy() for kind in KINDS], axis=1)


def _without(context: LessonContext, off: list[Head]) -> dict[str, Any] | None:
    """Translate without some heads; None while all are on."""
    if not off:
        return None
    translator, translation = context.service.translator, context.result.translation
    translations = context.compute_once(
        ("heads.without", context.source, tuple(off)),
        lambda stop: translate_without(translator, translation, off, beam=BEAM, should_stop=stop),
    )
    return {"words": translations.words, "original": translations.original}


def _shown(context: LessonContext) -> tuple[Head, int]:
    """Return the head that was pressed, else the one with the largest effect, and the token or -1."""
    change, frozen, _ = _settings(context)
    effects = _stacked(_effects(context, change, frozen))
    token = int(context.state.number("token", _NO_TOKEN, _NO_TOKEN, effects.shape[1] - 1))
    values = np.nan_to_num(effects[:, token])
    if token < 0:
        values = effects.sum(axis=1)
        if is_by_layer(context):
            values = np.where(np.isnan(values), estimates(context), values)
    return named_head(context) or all_heads(context.service.translator)[int(np.abs(values).argmax())], token


def recipe(context: LessonContext) -> Recipe:
    """Give the effects as a command and in Python."""
    change, frozen, _ = _settings(context)
    options = [] if change == "zero" else ["--change", change, "--sentences", "pairs.tsv"]
    options += ["--frozen-norm"] if frozen else []
    more = "" if change == "zero" else f", change={change!r}, others=[(english, translation), ...]"
    more += ", frozen_norm=True" if frozen else ""
    return recipes.recipe(
        context,
        "from transformer_core.analysis.effects.head_effects import head_effects",
        f"ablation = head_effects(translator, source{more})",
        'ablation.effects["cross"]  # (layers, heads, tokens), in nats',
        command=("effects", *options),
        out="effects.npz",
    )


BENCH = Bench(data=data, recipe=recipe, head=lambda context: _shown(context)[0])
