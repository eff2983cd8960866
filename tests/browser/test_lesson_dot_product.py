"""The lesson on the dot product in a browser: scenes paint, numbers can be edited where they stand."""

from __future__ import annotations

from tests.browser.conftest import CheckAccessibility, OpenPage
from tests.browser.lesson_driver import FIND, ROOT, address, inked, ready, settings
from viz_app.text import texts

T = texts("en")


def test_numbers_are_edited_and_every_scene_paints(
    open_page: OpenPage, app_url: str, check_accessibility: CheckAccessibility
) -> None:
    page = open_page(address(app_url, "dot_product", scene="steps"), still=True)
    page.locator(".lesson canvas").wait_for()
    page.evaluate(FIND)
    ready(page)
    fields = page.locator(".number-field")
    assert fields.count() == 36
    page.get_by_role("button", name=T("lesson.table")).click()
    products = page.locator(".numbers tbody tr").nth(5).locator("td")  # the second query and the third key
    assert products.nth(2).inner_text() == "4", "by hand: 0*0 + 2*1 + 0*0 + 2*1"
    fields.nth(4 + 1).fill("3,5")
    assert products.nth(2).inner_text() == "5.5000"
    fields.nth(4 + 1).press("ArrowDown")
    assert products.nth(2).inner_text() == "5.4000"
    fields.nth(4 + 1).press("Space")
    assert not page.evaluate(f"{ROOT}.lesson.stage.playing"), "who types does not start the film"
    fields.nth(4 + 1).fill("1e9")
    fields.nth(4 + 1).press("Enter")
    assert fields.nth(4 + 1).input_value() == "9.9"
    page.wait_for_function("(new URL(location.href).searchParams.get('with') ?? '').includes('q:')")
    page.locator(".lesson canvas").focus()
    page.keyboard.press("ArrowRight")
    assert settings(page)["step"] == 1
    check_accessibility(page)
    for scene in ("scale", "real", "predict"):
        page.evaluate(f"{ROOT}.lesson.go({scene!r})")
        for _ in range(3):
            page.evaluate("new Promise((done) => requestAnimationFrame(() => done()))")
        assert inked(page) > 0.005, scene
        assert fields.count() == 0
    assert page.locator(".numbers tbody tr").count() == 1
    page.get_by_role("button", name=T("lesson.reveal")).click()
    assert page.locator(".numbers tbody tr").count() == 2
