"""What takes long says beforehand how often it will ask whether to stop, and asks more than a few times."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.core.analysis.effects.test_head_effects import SOURCE, TARGET, make_translator
from transformer_core.analysis import patching as patching_module
from transformer_core.analysis import teacher_forced_run as run_module
from transformer_core.analysis.attribution import attribute, faithfulness
from transformer_core.analysis.effects.cumulative_ablation import cumulative_ablation, head_faithfulness
from transformer_core.analysis.effects.head_effects import head_effects
from transformer_core.analysis.effects.part_effects import part_effects
from transformer_core.analysis.patching import patching
from transformer_core.text.tokenizer import Tokenizer
from transformer_core.translator import Translator

OTHER = SOURCE.replace(SOURCE.split()[1], "cat")


class Watch:
    """Counts the questions, and what was expected of them."""

    def __init__(self) -> None:
        self.asked = 0
        self.expected: list[int] = []

    def expect(self, checks: int) -> None:
        self.expected.append(self.asked + checks)

    def __call__(self) -> bool:
        self.asked += 1
        return False


LONG: dict[str, Callable[[Translator, Watch], object]] = {
    "effects": lambda t, watch: head_effects(t, SOURCE, TARGET, should_stop=watch),
    "random effects": lambda t, watch: head_effects(t, SOURCE, TARGET, change="random", draws=3, should_stop=watch),
    "heads together": lambda t, watch: head_faithfulness(t, head_effects(t, SOURCE, TARGET), should_stop=watch),
    "parts": lambda t, watch: part_effects(t, SOURCE, TARGET, should_stop=watch),
    "patching": lambda t, watch: patching(t, SOURCE, OTHER, answers=("a", "b"), should_stop=watch),
    "words": lambda t, watch: faithfulness(t, attribute(t, SOURCE, TARGET, method="norm"), should_stop=watch),
    "staircase": lambda t, watch: cumulative_ablation(t, SOURCE, TARGET, texts=3, beam=1, should_stop=watch),
}


@pytest.mark.parametrize("name", LONG)
def test_it_asks_about_as_often_as_it_said(name: str, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "_MAX_TOKENS", 50)  # a few rows at once, as of a long sentence
    monkeypatch.setattr(patching_module, "MIN_DIFFERENCE", 0.0)
    translator = make_translator(tokenizer)
    translator.decoding = translator.decoding.replace(extra_length=3)
    watch = Watch()
    LONG[name](translator, watch)
    assert len(watch.expected) == 1, "what is a part of it tells nothing of its own"
    assert watch.asked > 3 and 0.7 < watch.asked / watch.expected[0] < 1.4
