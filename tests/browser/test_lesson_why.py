"""The lesson "Why self-attention" in a real browser."""

from __future__ import annotations

from tests.browser.conftest import OpenLesson
from viz_app.lessons.labels import labels

T = labels("en")


def test_a_slider_is_there_only_where_it_does_something(open_lesson: OpenLesson) -> None:
    lesson = open_lesson("why", "path")
    lesson.choose(T("lesson_why.layer_recurrent"))
    slider = lesson.page.get_by_role("slider", name="r", exact=True)
    assert slider.count() == 0
    lesson.choose(T("lesson_why.layer_restricted"))
    slider.wait_for()


def test_revealed_the_arrows_move_the_length(open_lesson_file: OpenLesson) -> None:
    lesson = open_lesson_file("why", "predict")
    lesson.press("Enter", "ArrowRight")
    assert f"{576**2 * 512 / 1e6:.0f}M" in lesson.said() and f"{576 * 512**2 / 1e6:.0f}M" in lesson.said()
    before = lesson.said()
    lesson.canvas.click(position={"x": 500, "y": 200})
    assert lesson.said() != before
