"""The lesson on decoding in the browser: every scene paints, and BLEU follows what is written."""

from __future__ import annotations

import pytest

from tests.browser.conftest import CheckAccessibility, OpenPage, wait_until_idle
from tests.browser.lesson_driver import FIND, ROOT, address, painted, ready, settings
from transformer_core.metrics import bleu
from viz_app.lessons.labels import labels

T = labels("en")
LESSON = ROOT + ".lesson"


def test_the_lesson_on_decoding(open_page: OpenPage, app_url: str, check_accessibility: CheckAccessibility) -> None:
    page = open_page(address(app_url, "decoding"), still=True)
    page.locator(".lesson canvas").wait_for()
    page.evaluate(FIND)
    ready(page)
    for scene in ("tree", "alpha", "predict", "bleu"):
        page.evaluate(f"{LESSON}.go('{scene}')")
        painted(page, 0.005)
    page.get_by_role("textbox", name=T("lesson_decoding.your_translation")).fill("ein kleiner Hund")
    page.wait_for_function(LESSON + ".lesson.answers.text === 'ein kleiner Hund'")
    values = page.evaluate(LESSON + ".lesson.values")
    assert values["bleu"]["score"] == pytest.approx(bleu(["ein kleiner Hund"], [[values["reference"]]]).value)
    page.locator(".lesson canvas").focus()
    page.keyboard.press("ArrowRight")
    assert settings(page)["step"] == 1
    wait_until_idle(page)  # what a run leaves behind fades
    check_accessibility(page)
