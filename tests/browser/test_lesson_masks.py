"""The lesson on masks in a browser: every scene paints, plays and steps, and shows the numbers of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.conftest import CheckAccessibility, OpenPage
from tests.browser.lesson_driver import FIND, ROOT, address, inked, ready, settings
from viz_app.lessons.labels import labels

if TYPE_CHECKING:
    from playwright.sync_api import Page

T = labels("en")
SCENES = ("rows", "compare", "padding", "leak", "predict")


def go(page: Page, scene: str) -> None:
    """Show a scene; other controls may change the size of the stage, so that it is painted twice."""
    page.evaluate(f"{ROOT}.lesson.go({scene!r})")
    for _ in range(3):
        page.evaluate("new Promise((done) => requestAnimationFrame(() => done()))")


def test_every_scene_paints_and_tells_the_models_numbers(
    open_page: OpenPage, app_url: str, check_accessibility: CheckAccessibility
) -> None:
    page = open_page(address(app_url, "masks", scene="rows"), still=True)
    page.locator(".lesson canvas").wait_for()
    page.evaluate(FIND)
    ready(page)
    for scene in SCENES:
        go(page, scene)
        assert inked(page) > 0.005, scene
    page.get_by_role("button", name=T("lesson.reveal")).click()
    assert T("lesson_masks.guess_say") in page.locator(".readout").inner_text()
    page.get_by_role("button", name=T("lesson.table")).click()
    assert float(page.locator(".numbers tbody td.number").first.inner_text()) > 0
    go(page, "rows")
    page.wait_for_function(
        f"{ROOT}.querySelectorAll('.numbers tbody tr').length === {ROOT}.lesson.lesson.values.inputs.length"
    )
    cells = page.locator(".numbers tbody tr").first.locator("td").all_inner_texts()
    assert cells[2] == "1" and set(cells[3:]) == {"−∞"}, "the first row sees itself and nothing else"
    page.locator(".lesson canvas").focus()
    page.keyboard.press("ArrowRight")
    assert abs(settings(page)["at"] - 1 / 3) < 1e-6
    assert "mask" in (page.locator("math .lit").first.get_attribute("class") or "")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert settings(page)["at"] == 1
    check_accessibility(page)
