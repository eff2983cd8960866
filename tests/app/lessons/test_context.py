"""What a lesson knows of its visitor, for several visitors at once."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from viz_app.lessons.context import LessonContext
from viz_app.lessons.stage import LessonState

PATIENCE = 10.0


def context_of(translate: Callable[[str, str], str]) -> Any:
    """A context whose model is a function of session and text."""
    service: Any = SimpleNamespace(translate=translate, source_text=str)
    return LessonContext("The dog.", LessonState(), "en", lambda: service, "me")


def test_nobody_waits_for_the_translation_of_another_visitor() -> None:
    answered = threading.Event()

    def slow(*_: str) -> str:
        assert answered.wait(PATIENCE), "the other visitor had to wait"
        return "slow"

    def quick(*_: str) -> str:
        answered.set()
        return "quick"

    found: list[object] = []
    waiting = threading.Thread(target=lambda: found.append(context_of(slow).result), daemon=True)
    waiting.start()
    assert context_of(quick).result == "quick"
    waiting.join(PATIENCE)
    assert found == ["slow"]


def test_a_translation_is_asked_for_once_in_a_run() -> None:
    asked: list[str] = []

    def translate(_: str, text: str) -> str:
        asked.append(text)
        return f"of {text}"

    context = context_of(translate)
    assert context.result == "of The dog." and context.result == "of The dog."
    assert asked == ["The dog."]
    assert dataclasses.replace(context, text="A cat.").result == "of A cat."
