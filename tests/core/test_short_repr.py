"""`repr` of results: a few lines, however long the sentence."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from transformer_core import AttentionMaps, Axis, Translator
from transformer_core.analysis.attribution.attribute import attribute
from transformer_core.analysis.effects.head_effects import head_effects
from transformer_core.analysis.lens import logit_lens
from transformer_core.short_repr import ShortRepr
from viz_app.figures import VIEWS

LONG = 400  # tokens


def axis(first: str) -> Axis:
    return Axis((first, *["▁on" * 30] * (LONG - 1)), tuple(range(LONG)), (False,) * LONG)


@pytest.fixture(scope="module")
def long_maps() -> AttentionMaps:
    weights = np.full((2, 2, LONG, LONG), 1 / LONG, dtype=np.float32)
    return AttentionMaps(weights, weights, weights, axis("▁A"), axis("<s>"), axis("▁Ein"))


def check(value: object, *parts: str) -> None:
    text = repr(value)
    assert text.splitlines()[0] == type(value).__name__
    assert len(text) < 2_500 and len(text.splitlines()) <= 20, text
    assert [part for part in parts if part not in text] == []


def test_maps_and_figures_of_a_long_sentence(long_maps: AttentionMaps) -> None:
    check(long_maps, "encoder: float32 (2, 2, 400, 400)", "Axis of 400: '▁A'", "Axis of 400: '▁Ein'")
    check(long_maps.source, "400: '▁A'")
    figure = VIEWS["layer"].draw(maps=long_maps, kind="cross", layer=1)
    check(figure, "2: HeatmapPanel of float32 (400, 400)")
    check(figure.panels[0], "(400, 400)")  # type: ignore[attr-defined]
    check(VIEWS["lines"].draw(maps=long_maps, kind="cross", layer=1, head=0))


@pytest.fixture(scope="module")
def translator(random_checkpoint: Path) -> Translator:
    return Translator.load(random_checkpoint)


def test_results_of_a_model(translator: Translator) -> None:
    text, target = "The house was built. " * 10, "Das Haus. " * 10
    translation = translator.translate(text, beam=2)
    check(translation, "'The house was built.", f"tokens: {len(translation.tokens)}: ")
    check(translator.teacher_force(text, target), "'Das Haus.", "AttentionMaps of float32 (")
    check(logit_lens(translator, text, target), "TeacherForcedRun of 'The house", "log_p: torch.float32 (")
    check(logit_lens(translator, text, target).run)
    check(head_effects(translator, text, target, only=[("cross", 0)]), "cross: torch.float32 (")
    check(attribute(translator, text, target, method="alti"), "source: torch.float32 (")


def test_the_parts_of_a_value() -> None:
    @dataclass(frozen=True)
    class Sample(ShortRepr):
        text: str
        many: tuple[int, ...]
        by_name: dict[str, np.ndarray]
        one: list[str]
        nothing: str = ""
        none: None = None
        hidden: int = field(default=1, repr=False)

    shown = repr(Sample("a\n" * 100, tuple(range(9)), {"x": np.eye(2)}, ["b"]))
    assert shown.splitlines() == [
        "Sample",
        "  text: '" + "a\\n" * 33 + "...",
        "  many: 9: 0, 1, 2, 3, 4, ...",
        "  by_name: {x: float64 (2, 2)}",
        "  one: 1: 'b'",
    ]
