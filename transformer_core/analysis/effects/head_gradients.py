"""Effects of all heads estimated from one backward pass.

To first order, the log-probability with a head minus without it is the head's output times the gradient at it. The
estimate holds for small outputs; `head_effects` measures the exact effect.

Shape legend: N heads in the order of `ablation.all_heads`, H heads of a layer, n positions, d_v width of a head.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from transformer_core.analysis.ablation import hook_point_name
from transformer_core.analysis.teacher_forced_run import TeacherForcedRun, log_probabilities
from transformer_core.attention_maps import KINDS, Kind
from transformer_core.hooks.hook_sites import Site
from transformer_core.hooks.points import Edit, edit

if TYPE_CHECKING:
    from transformer_core.translator import Translator


def gradient_importance(translator: Translator, run: TeacherForcedRun) -> Tensor:
    """Return (N,) means over tokens of |output . gradient of the log-probability| (Michel, Levy and Neubig 2019).

    The absolute value is taken at each position, after the sum over d_v. So a head counts although its help and harm
    cancel over positions.
    """
    return torch.cat([each.abs().sum(dim=1) for each in _slopes(translator, run)]) / len(run.outputs)


def estimated_effects(translator: Translator, run: TeacherForcedRun) -> Tensor:
    """Return (N,) first-order estimates of the effects on the whole translation, in nats; see `head_effects`."""
    return torch.cat([each.sum(dim=1) for each in _slopes(translator, run)])


def _slopes(translator: Translator, run: TeacherForcedRun) -> list[Tensor]:
    """Return output . gradient of the log-probability of the whole translation: (H, n) for each kind and layer."""
    places = [(kind, layer) for kind in KINDS for layer in range(translator.config.num_layers)]
    added: dict[tuple[Kind, int], tuple[Tensor, Tensor]] = {}

    def note(kind: Kind, layer: int) -> Edit:
        def change(value: Tensor, _site: Site) -> Tensor:
            nothing = torch.zeros_like(value, requires_grad=True)
            added[kind, layer] = (value.detach(), nothing)
            return value + nothing

        return change

    edits = {hook_point_name(*place, "head_outputs"): note(*place) for place in places}
    with torch.enable_grad(), edit(translator, edits):
        logits = translator.model(run.source, run.inputs, run.source_mask)
        gradients = torch.autograd.grad(
            log_probabilities(logits, run.outputs).sum(), [added[place][1] for place in places]
        )
    return [
        (added[place][0] * gradient).sum(dim=3)[0].detach() for place, gradient in zip(places, gradients, strict=True)
    ]
