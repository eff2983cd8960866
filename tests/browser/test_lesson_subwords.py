"""The lesson on subwords in a real browser: each scene paints and says what Python knows; keys and axe."""

from __future__ import annotations

from tests.browser.conftest import CheckAccessibility, OpenLesson
from viz_app.lessons import load_lesson
from viz_app.lessons.labels import labels
from viz_app.lessons.subwords.batching import length_sorted_batches

T = labels("en")


def test_all_scenes_paint_and_the_controls_are_answered(
    open_lesson: OpenLesson, check_accessibility: CheckAccessibility
) -> None:
    lesson = open_lesson("subwords")
    lesson.press("ArrowRight")
    assert lesson.settings()["done"] == 1
    for scene in load_lesson("subwords", "en").scenes:
        assert lesson.get("lesson.name") == scene.name
        lesson.wait("!lesson.stage.drawing")
        lesson.painted(0.005)
        if scene.name != "predict":
            lesson.page.keyboard.press("PageDown")
    wrong = lesson.get("lesson.lesson.values.word[1]")
    assert wrong not in lesson.said()
    lesson.click(T("lesson.reveal"))
    assert wrong in lesson.said()
    check_accessibility(lesson.page)
    lesson.page.keyboard.press("PageUp")
    lesson.page.get_by_role("slider", name=T("lesson_subwords.budget")).focus()
    lesson.page.keyboard.press("ArrowRight")
    lesson.wait("lesson.lesson.answers.budget === 288")
    assert lesson.get("lesson.lesson.values.padding[1][0]") == length_sorted_batches(288).padded
