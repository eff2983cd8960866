"""How often a computation asks whether to stop is known before."""

from __future__ import annotations

import pytest

from transformer_core.analysis.attribution import Method, attribute
from transformer_core.analysis.effects.cumulative_ablation import Order, cumulative_ablation
from transformer_core.translator import Translator

SOURCE = "the red dog"


class Watch:
    """Counts the questions, and what was expected at the first."""

    def __init__(self) -> None:
        self.asked, self.expected = 0, 0

    def __call__(self) -> bool:
        self.asked += 1
        return False

    def expect(self, checks: int) -> None:
        """Of `transformer_core.progress.expect`."""
        self.expected += self.asked + checks


@pytest.mark.parametrize("method", ["gradient", "integrated-gradients"])
def test_gradients_ask_as_often_as_expected(learned: Translator, method: Method) -> None:
    watch = Watch()
    attribute(learned, SOURCE, method=method, should_stop=watch)
    assert watch.asked == watch.expected > 0


@pytest.mark.parametrize("order", ["effect", "gradient", "greedy", "random"])
def test_a_staircase_asks_about_as_often_as_expected(learned: Translator, order: Order) -> None:
    """But for the translations, which are as long as they turn out."""
    watch = Watch()
    found = cumulative_ablation(learned, SOURCE, order=order, random_orders=2, should_stop=watch)
    before = watch.expected - len(found.run.outputs)
    steps = watch.asked - before
    assert 1 <= steps <= len(learned.encode(SOURCE)) + learned.decoding.extra_length + 1
