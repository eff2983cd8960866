"""Gradients at the outputs of heads: against finite differences."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.core.analysis.models import FEW_SHAPES, SOURCE, TARGET, heads, of_shapes
from transformer_core.analysis.ablation import Head, hook_point_name
from transformer_core.analysis.effects.head_gradients import estimated_effects, gradient_importance
from transformer_core.analysis.teacher_forced_run import TeacherForcedRun, teacher_forced_run
from transformer_core.hooks.points import edit
from transformer_core.translator import Translator

STEP = 1e-6


def slope(translator: Translator, run: TeacherForcedRun, head: Head, at: slice) -> float:
    """How fast the log-probability grows when a head's output at some positions is made a little longer."""
    kind, layer, number = head
    rows = []
    for sign in (1, -1):

        def longer(value: torch.Tensor, _site: Any, by: float = 1 + sign * STEP) -> torch.Tensor:
            changed = value.clone()
            changed[:, number, at] *= by
            return changed

        with edit(translator.model, hook_point_name(kind, layer, "head_outputs"), longer), torch.no_grad():
            logits = translator.model(run.source, run.inputs, run.source_mask)[0]
        rows.append(float(logits.log_softmax(dim=1).gather(1, run.outputs[:, None]).sum()))
    return (rows[0] - rows[1]) / (2 * STEP)


@of_shapes(FEW_SHAPES)
def test_both_measures_are_slopes_of_the_log_probability(translator: Translator) -> None:
    """Every position's output of a head made a little longer, one after the other; then all of them together."""
    translator.model.double()
    run = teacher_forced_run(translator, SOURCE, TARGET)
    importance, estimates = gradient_importance(translator, run), estimated_effects(translator, run)
    for number, head in list(enumerate(heads(translator)))[::5]:
        length = run.source.shape[1] if head[0] == "encoder" else run.inputs.shape[1]
        alone = [abs(slope(translator, run, head, slice(at, at + 1))) for at in range(length)]
        assert float(importance[number]) == pytest.approx(sum(alone) / len(run.outputs), rel=0.02, abs=1e-4)
        whole = slope(translator, run, head, slice(None))
        assert float(estimates[number]) == pytest.approx(whole, rel=0.02, abs=1e-4)
