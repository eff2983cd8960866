"""The bench "Layers and words" in the browser: tiles and words are pressed, arrows go on, the phone has all of it."""

from __future__ import annotations

import pytest

from tests.browser.conftest import CheckAccessibility, OpenLesson

ANSWERED = "lesson.scene.own && !lesson.scene.waits(lesson.settings())"


@pytest.mark.parametrize(
    "window", [{}, {"lang": "ko", "width": 390, "height": 844, "dark": True}], ids=["wide", "phone"]
)
def test_parts_are_switched_off(
    open_lesson: OpenLesson, check_accessibility: CheckAccessibility, window: dict[str, object]
) -> None:
    lesson = open_lesson("lab", "parts", **window)
    lesson.wait(ANSWERED)
    lesson.painted(0.01)
    box = lesson.get("lesson.scene.box(4, lesson.scene.places(lesson.stage.pen(null)))")
    lesson.canvas.click(position={"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2})
    assert lesson.settings()["chosen"] == "p4"
    lesson.wait(f"{ANSWERED} && lesson.scene.own.chosen === 'p4'")
    lesson.press("ArrowRight")
    assert lesson.settings()["chosen"] != "p4"
    lesson.wait(ANSWERED)
    check_accessibility(lesson.page)
