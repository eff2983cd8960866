"""The lesson on subwords in a real browser: each scene paints and says what Python knows; keys and axe."""

from __future__ import annotations

from tests.browser.conftest import CheckAccessibility, OpenPage
from tests.browser.lesson_driver import FIND, ROOT, address, inked, ready, settings
from viz_app.lessons import load_lesson
from viz_app.lessons.labels import labels
from viz_app.lessons.subwords.batching import length_sorted_batches

T = labels("en")


def test_all_scenes_paint_and_the_controls_are_answered(
    open_page: OpenPage, app_url: str, check_accessibility: CheckAccessibility
) -> None:
    page = open_page(address(app_url, "subwords"), still=True)
    page.locator(".lesson canvas").wait_for()
    page.evaluate(FIND)
    ready(page)
    page.locator(".lesson canvas").focus()
    page.keyboard.press("ArrowRight")
    assert settings(page)["done"] == 1
    for scene in load_lesson("subwords", "en").scenes:
        assert page.evaluate(ROOT + ".lesson.name") == scene.name
        page.wait_for_function(f"!{ROOT}.lesson.stage.drawing")
        assert inked(page) > 0.005, scene.name
        if scene.name != "predict":
            page.keyboard.press("PageDown")
    wrong = page.evaluate(ROOT + ".lesson.lesson.values.word")[1]
    assert wrong not in page.locator(".readout").inner_text()
    page.get_by_role("button", name=T("lesson.reveal")).click()
    assert wrong in page.locator(".readout").inner_text()
    check_accessibility(page)
    page.keyboard.press("PageUp")
    page.get_by_role("slider", name=T("lesson_subwords.budget")).focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(ROOT + ".lesson.lesson.answers.budget === 288")
    assert page.evaluate(ROOT + ".lesson.lesson.values.padding[1][0]") == length_sorted_batches(288).padded
