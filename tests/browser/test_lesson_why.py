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
