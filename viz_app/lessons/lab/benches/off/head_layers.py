"""Layers that the bench "Switch off" measures: all, or of a large model the ones that the visitor chooses.

The effects of the other heads are then estimated by the gradient, all at once.

Shape legend: N heads in the order of `ablation.all_heads`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from transformer_core.attention_maps import KINDS, Kind
from viz_app.lessons.context import LessonContext
from viz_app.lessons.lab.heads import set_of_bits
from viz_app.lessons.lab.limits import MAX_FLOPS_OF_ALL_HEADS, check_work, pass_flops
from viz_app.serving.scheduling.single_flight_cache import ShouldStop

Layer = tuple[Kind, int]
FloatArray = npt.NDArray[np.float32]

_PASSES_OF_ESTIMATES = 3  # forward twice, backward once


def all_layers(context: LessonContext) -> list[Layer]:
    """List kinds and layers in the order of the heads."""
    return [(kind, layer) for kind in KINDS for layer in range(context.service.translator.config.num_layers)]


def flops_of_layers(context: LessonContext, layers: list[Layer]) -> float:
    """Count the FLOPs of measuring every head of some layers, each alone."""
    passes, heads = pass_flops(context), context.service.translator.config.num_heads
    return heads * sum(passes.from_layer(*each) for each in layers)


def is_by_layer(context: LessonContext) -> bool:
    """Tell whether model and sentence are too large to measure all heads at once."""
    return flops_of_layers(context, all_layers(context)) > MAX_FLOPS_OF_ALL_HEADS


def asked_layers(context: LessonContext) -> tuple[str, list[Layer]]:
    """Read the layers to measure, the most promising one by default; the setting as it is understood comes first."""
    layers = all_layers(context)
    if not is_by_layer(context):
        return "h0", layers
    digits, subset = set_of_bits(context, "layers", layers)
    heads = context.service.translator.config.num_heads
    return digits, subset or [layers[int(np.abs(estimates(context)).argmax()) // heads]]


def estimates(context: LessonContext) -> FloatArray:
    """Estimate the effect of every head on the whole translation by the gradient: (N,) nats."""
    translator, translation = context.service.translator, context.result.translation
    check_work(_PASSES_OF_ESTIMATES * pass_flops(context).whole)

    def compute(_stop: ShouldStop) -> FloatArray:
        from transformer_core.analysis.effects.head_gradients import estimated_effects
        from transformer_core.analysis.teacher_forced_run import teacher_forced_run

        run = teacher_forced_run(translator, context.source, translation)
        return np.asarray(estimated_effects(translator, run))

    return context.compute_once(("lab.effects.estimates", context.source), compute)
