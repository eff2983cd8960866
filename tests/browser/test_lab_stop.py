"""What the Lab computes for long can be stopped, and computed after all."""

from __future__ import annotations

from tests.browser.conftest import CheckAccessibility, OpenLesson
from viz_app.lessons.labels import labels

T = labels("en")
LONG = "A man in a blue shirt is standing on a tall ladder in the garden, and his son is cleaning the old window."


def test_a_long_computation_is_stopped_and_computed_after_all(
    open_lesson: OpenLesson, check_accessibility: CheckAccessibility
) -> None:
    lesson = open_lesson("lab", "trace", text=LONG)
    lesson.wait("lesson.scene.own")
    lesson.page.get_by_role("checkbox", name=T("lesson_lab.method_integrated_gradients")).check(force=True)
    main = lesson.page.get_by_test_id("stMain")  # Streamlit has a button Stop of its own, above the page
    stop = main.get_by_role("button", name=T("lesson_lab.stop"), exact=True)
    stop.click()
    lesson.wait("lesson.lesson.values.bench === null")
    assert lesson.said() == T("lesson_lab.stopped")
    check_accessibility(lesson.page)
    main.get_by_role("button", name=T("lesson_lab.compute"), exact=True).click()
    lesson.wait("lesson.scene.own")
    stop.wait_for(state="detached")
    assert lesson.get("lesson.scene.own.methods").count("integrated-gradients") == 1
