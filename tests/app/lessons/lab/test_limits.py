"""Too much work for a bench is refused before it begins."""

from __future__ import annotations

import pytest
from torch.utils.flop_counter import FlopCounterMode

from tests.app.lessons.conftest import Visit
from transformer_core.analysis.ablation import all_heads
from transformer_core.analysis.effects.head_effects import head_effects
from viz_app.lessons.lab import limits, numbers
from viz_app.lessons.lab.benches.off.head_layers import all_layers, flops_of_layers
from viz_app.lessons.lab.limits import PassFlops, TooMuchWork, check_work, pass_flops

COSTLY = ("off", "parts", "cumulative", "trace", "flow", "early", "swap", "why")


@pytest.mark.parametrize("bench", COSTLY)
def test_a_bench_says_how_much_too_much_it_is(visit: Visit, monkeypatch: pytest.MonkeyPatch, bench: str) -> None:
    monkeypatch.setattr(limits, "MAX_FLOPS", 1.0)
    context = visit(bench, "A dog is here today.")
    result = numbers.data(context)
    assert result.values["bench"] is None and result.values["times"] > 1000 and not result.arrays
    shown = numbers.selection(bench, context)
    assert shown is None or bench == "why", "only its head is known without any work"
    assert (numbers.recipe(bench, context) is None) == (bench == "why"), "a command or Python has no deadline"


def test_little_too_much_is_never_said_to_fit() -> None:
    check_work(limits.MAX_FLOPS)
    with pytest.raises(TooMuchWork) as raised:
        check_work(1.01 * limits.MAX_FLOPS)
    assert raised.value.times == 1.1


def test_work_is_counted_as_torch_counts_it(visit: Visit) -> None:
    """All heads switched off alone, each from its layer on; `test_flops.py` counts a single pass."""
    context = visit("off", "The dog is fast.")
    translator, translation = context.service.translator, context.result.translation
    passes = pass_flops(context)
    assert passes == PassFlops.from_lengths(translator.config, passes.source_length, passes.target_length)
    with FlopCounterMode(display=False) as counter:
        result = head_effects(translator, context.source, translation)
    assert len(result.effects) * result.effects["cross"][..., 0].numel() == len(all_heads(translator))
    expected = flops_of_layers(context, all_layers(context))
    assert 0.5 * expected < counter.get_total_flops() - passes.whole < 1.5 * expected
