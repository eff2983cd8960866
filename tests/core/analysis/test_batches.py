"""Computations in batches: small batches give the same, they can be stopped, and say how often they will ask."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from tests.core.analysis.models import SOURCE, TARGET
from transformer_core.analysis import teacher_forced_run as run_module
from transformer_core.analysis.attribution import Faithfulness, Method, attribute, faithfulness
from transformer_core.analysis.effects.cumulative_ablation import ORDERS, Order, cumulative_ablation, head_faithfulness
from transformer_core.analysis.effects.head_effects import Change, head_effects
from transformer_core.analysis.effects.part_effects import part_effects
from transformer_core.analysis.patching import patching
from transformer_core.decoding.beam import DecodingStopped
from transformer_core.translator import Translator

pytestmark = pytest.mark.usefixtures("any_difference")
OTHER = SOURCE.replace(SOURCE.split()[1], "cat")
Stop = Callable[[], bool]
Run = Callable[[Translator, Stop | None], Tensor]


class Watch:
    """Counts the questions, and what was expected of them."""

    def __init__(self, limit: int = 10**9) -> None:
        self.asked, self.limit = 0, limit
        self.expected: list[int] = []

    def expect(self, checks: int) -> None:
        self.expected.append(self.asked + checks)

    def __call__(self) -> bool:
        self.asked += 1
        return self.asked > self.limit


def rows(result: Faithfulness) -> Tensor:
    return torch.stack([result.first, result.last, result.random])


def effects(change: Change) -> Run:
    return lambda t, stop: head_effects(t, SOURCE, TARGET, change=change, draws=3, should_stop=stop).totals


def ablation(order: Order) -> Run:
    return lambda t, stop: (
        cumulative_ablation(t, SOURCE, TARGET, order=order, random_orders=2, texts=3, beam=1, should_stop=stop).log_p
    )


def gradients(method: Method) -> Run:
    return lambda t, stop: attribute(t, SOURCE, TARGET, method=method, steps=9, should_stop=stop).source


LONG: dict[str, Run] = {
    "zero": effects("zero"),
    "random": effects("random"),
    "heads": lambda t, stop: rows(head_faithfulness(t, head_effects(t, SOURCE, TARGET), should_stop=stop)),
    "parts": lambda t, stop: part_effects(t, SOURCE, TARGET, should_stop=stop).effects,
    "words": lambda t, stop: rows(faithfulness(t, attribute(t, SOURCE, TARGET, method="norm"), should_stop=stop)),
    "patching": lambda t, stop: patching(t, SOURCE, OTHER, answers=("a", "b"), should_stop=stop).metrics,
    **{f"{order} order": ablation(order) for order in ORDERS},
    "gradient": gradients("gradient"),
    "integrated-gradients": gradients("integrated-gradients"),
}
each = pytest.mark.parametrize("name", LONG)


@each
def test_it_asks_about_as_often_as_it_said(name: str, translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "_MAX_TOKENS", 50)  # a few rows at once, as of a long sentence
    watch = Watch()
    LONG[name](translator, watch)
    assert len(watch.expected) == 1, "what is a part of it tells nothing of its own"
    assert 0.7 < watch.asked / watch.expected[0] < 1.4  # translations are as long as they turn out
    assert "gradient" not in name or "order" in name or watch.asked == watch.expected[0]


@pytest.mark.parametrize("name", [name for name in LONG if name != "random"])  # a batch draws its own
def test_small_batches_give_the_same(name: str, translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = LONG[name](translator, None)
    monkeypatch.setattr(run_module, "_MAX_VALUES", 1)  # one row after the other
    monkeypatch.setattr(run_module, "_MAX_TOKENS", 1)
    torch.testing.assert_close(LONG[name](translator, None), whole, atol=1e-4, rtol=1e-4, equal_nan=True)


@each
def test_it_stops_when_told(name: str, translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "_MAX_TOKENS", 50)
    watch = Watch(limit=1)
    with pytest.raises(DecodingStopped):
        LONG[name](translator, watch)
    assert watch.asked == 2
