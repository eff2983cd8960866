"""The lesson on the dot product in a browser: scenes paint, numbers can be edited where they stand."""

from __future__ import annotations

from tests.browser.conftest import CheckAccessibility, OpenLesson
from viz_app.text import texts

T = texts("en")


def test_numbers_are_edited_and_every_scene_paints(
    open_lesson: OpenLesson, check_accessibility: CheckAccessibility
) -> None:
    lesson = open_lesson("dot_product", "steps")
    fields = lesson.page.locator(".number-field")
    assert fields.count() == 36
    lesson.click(T("lesson.table"))
    products = lesson.rows.nth(5).locator("td")  # the second query and the third key
    assert products.nth(2).inner_text() == "4", "by hand: 0*0 + 2*1 + 0*0 + 2*1"
    field = fields.nth(4 + 1)
    field.fill("3,5")
    assert products.nth(2).inner_text() == "5.5000"
    field.press("ArrowDown")
    assert products.nth(2).inner_text() == "5.4000"
    field.press("Space")
    assert not lesson.get("lesson.stage.playing"), "who types does not start the film"
    field.fill("1e9")
    field.press("Enter")
    assert field.input_value() == "9.9"
    lesson.page.wait_for_function("(new URL(location.href).searchParams.get('with') ?? '').includes('q:')")
    lesson.press("ArrowRight")
    assert lesson.settings()["step"] == 1
    check_accessibility(lesson.page)
    for scene in ("scale", "real", "predict"):
        lesson.go(scene)
        lesson.painted(0.005)
        assert fields.count() == 0
    assert lesson.rows.count() == 1
    lesson.click(T("lesson.reveal"))
    assert lesson.rows.count() == 2
