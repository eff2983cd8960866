"""The lesson on regularisation in a real browser."""

from __future__ import annotations

import math

from tests.browser.conftest import OpenLesson
from viz_app.lessons import load_lesson


def test_from_targets_to_the_answer(open_lesson: OpenLesson) -> None:
    lesson = open_lesson("regularisation", "targets")
    for scene in load_lesson("regularisation", "en").scenes:
        lesson.tab(scene.title)
        lesson.wait(f"lesson.name === '{scene.name}'")
        lesson.painted(0.004)
        if scene.name == "loss":
            size = lesson.get("lesson.lesson.values.vocabularies.own")
            least = -0.9 * math.log(0.9) - 0.1 * math.log(0.1 / (size - 1))
            assert f"{least:.2f} nats" in lesson.said()
        if scene.name == "dropout":
            lesson.press("ArrowRight")
            assert lesson.settings()["place"] == 2
    assert "nats" not in lesson.said()
    lesson.press("Enter")
    assert "0.8" in lesson.said()
