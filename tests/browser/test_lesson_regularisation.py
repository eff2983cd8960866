"""The lesson on regularisation in a real browser."""

from __future__ import annotations

import math

from tests.browser.conftest import OpenPage
from tests.browser.lesson_driver import FIND, ROOT, address, painted, ready, settings
from viz_app.lessons import load_lesson


def test_from_targets_to_the_answer(open_page: OpenPage, app_url: str) -> None:
    scenes = load_lesson("regularisation", "en").scenes
    page = open_page(address(app_url, "regularisation", scene="targets"))
    page.locator(".lesson canvas").wait_for()
    page.evaluate(FIND)
    ready(page)
    for number in range(len(scenes)):
        painted(page, 0.004)
        if scenes[number].name == "loss":
            size = page.evaluate(ROOT + ".lesson.lesson.values.vocabularies.own")
            least = -0.9 * math.log(0.9) - 0.1 * math.log(0.1 / (size - 1))
            assert f"{least:.2f} nats" in page.locator(".readout").inner_text()
        if scenes[number].name == "dropout":
            page.locator(".lesson canvas").focus()
            page.keyboard.press("ArrowRight")
            assert settings(page)["place"] == 2
        if number + 1 < len(scenes):
            page.get_by_role("tab", name=scenes[number + 1].title).click()
    canvas = page.locator(".lesson canvas")
    canvas.focus()
    assert "nats" not in page.locator(".readout").inner_text()
    page.keyboard.press("Enter")
    assert "0.8" in page.locator(".readout").inner_text()
