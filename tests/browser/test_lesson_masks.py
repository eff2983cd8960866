"""The lesson on masks in a browser: every scene paints, plays and steps, and shows the numbers of the model."""

from __future__ import annotations

from tests.browser.conftest import CheckAccessibility, OpenLesson
from viz_app.lessons.labels import labels

T = labels("en")


def test_every_scene_paints_and_tells_the_models_numbers(
    open_lesson: OpenLesson, check_accessibility: CheckAccessibility
) -> None:
    lesson = open_lesson("masks", "rows")
    for scene in ("rows", "compare", "padding", "leak", "predict"):
        lesson.go(scene)
        lesson.painted(0.005)
    lesson.click(T("lesson.reveal"))
    assert T("lesson_masks.guess_say") in lesson.said()
    lesson.click(T("lesson.table"))
    assert float(lesson.rows.locator("td.number").first.inner_text()) > 0
    lesson.go("rows")
    lesson.wait("lesson.numbers.querySelectorAll('tbody tr').length === lesson.lesson.values.inputs.length")
    cells = lesson.rows.first.locator("td").all_inner_texts()
    assert cells[2] == "1" and set(cells[3:]) == {"−∞"}, "the first row sees itself and nothing else"
    lesson.press("ArrowRight")
    assert abs(lesson.settings()["at"] - 1 / 3) < 1e-6
    assert "mask" in (lesson.page.locator("math .lit").first.get_attribute("class") or "")
    lesson.press("ArrowRight", "ArrowRight")
    assert lesson.settings()["at"] == 1
    check_accessibility(lesson.page)
