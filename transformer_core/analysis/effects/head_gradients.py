"""Effects of all heads estimated from one backward pass.

To first order, the log-probability with a head minus without it is the head's output times the gradient at it. The
estimate holds for small outputs; `head_effects` measures the exact effect.

Shape legend: N heads in the order of `ablation.all_heads`, H heads of a layer, n positions, d_v width of a head.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from transformer_core.analysis.ablation import hook_point_name
from transformer_core.analysis.teacher_forced_run import TeacherForcedRun, log_probabilities
from transformer_core.attention_maps import KINDS, Kind
from transformer_core.hooks.points import capture
from transformer_core.translator import Translator


def gradient_importance(translator: Translator, run: TeacherForcedRun) -> Tensor:
    """Return (N,) means over tokens of |output . gradient of the log-probability| (Michel, Levy and Neubig 2019).

    The absolute value is taken at each position, after the sum over d_v. So a head counts although its help and harm
    cancel over positions.
    """
    return torch.cat([each.abs().sum(dim=1) for each in _slopes(translator, run)]) / len(run.outputs)


def estimated_effects(translator: Translator, run: TeacherForcedRun) -> Tensor:
    """Return (N,) first-order estimates of the effects of `all_heads` on the whole translation, in nats."""
    return torch.cat([each.sum(dim=1) for each in _slopes(translator, run)])


def _slopes(translator: Translator, run: TeacherForcedRun) -> list[Tensor]:
    """Return output . gradient of the log-probability of the whole translation: (H, n) for each kind and layer."""

    def log_p() -> Tensor:
        logits = translator.model(run.source, run.inputs, run.source_mask)
        return log_probabilities(logits, run.outputs).sum()

    return [(value * gradient).sum(dim=3)[0] for value, gradient in head_gradients(translator, log_p).values()]


def head_gradients(
    translator: Translator, forward: Callable[[], Tensor]
) -> dict[tuple[Kind, int], tuple[Tensor, Tensor]]:
    """Return the outputs of all heads and the gradients at them: kind and layer -> two of (1, H, n, d_v).

    Args:
        translator: The model.
        forward: Runs it on one sentence, and returns the number whose gradients are wanted.
    """
    places = [(kind, layer) for kind in KINDS for layer in range(translator.config.num_layers)]
    with torch.enable_grad(), capture(translator, "head_outputs", grad=True) as seen:
        number = forward()
    outputs = [seen[hook_point_name(*place, "head_outputs")] for place in places]
    gradients = torch.autograd.grad(number, outputs)
    return {place: (of.detach(), gradient) for place, of, gradient in zip(places, outputs, gradients, strict=True)}
