"""A visitor in a lesson, with a checkpoint of random weights."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from transformer_core.head import Head
from viz_app.components.explorer.selection import Selection
from viz_app.lessons.context import LessonContext
from viz_app.lessons.stage import LessonState
from viz_app.serving.models.translation_service import TranslationService

Visit = Callable[..., LessonContext]


def place_of(selection: Selection | None) -> Head | None:
    """The head of a selection."""
    return None if selection is None else Head(selection.kind, selection.layer, selection.head)


def no_model() -> TranslationService:
    raise AssertionError("this lesson needs no model")


@pytest.fixture(scope="module")
def visit(service: TranslationService) -> Visit:
    """`visit(scene, text, language=..., **settings)`: one visitor, who has opened a scene with these settings."""

    def context(
        scene: str = "", text: str = "The dog is fast.", *, language: str = "en", **settings: str | float
    ) -> LessonContext:
        return LessonContext(text, LessonState(scene, settings), language, lambda: service, "me")

    return context
