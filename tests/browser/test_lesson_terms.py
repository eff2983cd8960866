"""Words of the glossary explain themselves where they stand: to the pointer, the keyboard and a screen reader."""

from __future__ import annotations

import pytest

from tests.browser.conftest import CheckAccessibility, OpenLesson
from viz_app.lessons import terms


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_term_explains_itself(
    language: str, open_lesson: OpenLesson, check_accessibility: CheckAccessibility
) -> None:
    page = open_lesson("masks", "rows", lang=language, width=390, height=900).page
    page.locator(".words .prose dfn").first.wait_for()
    masks, softmax = terms()["causal_mask"], terms()["softmax"]
    words = page.locator(".words .prose dfn")
    assert words.count() == 2
    word, other = words.nth(0), words.nth(1)
    tip = word.get_by_role("tooltip")
    assert not tip.is_visible()

    word.focus()
    tip.wait_for()
    assert tip.inner_text() == masks.about[language]
    assert word.get_attribute("aria-describedby") == tip.get_attribute("id")
    box = tip.bounding_box()
    assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 390 and box["height"] > 15
    check_accessibility(page)

    page.keyboard.press("Escape")
    assert not tip.is_visible()
    page.keyboard.press("Tab")
    assert other.get_by_role("tooltip").inner_text() == softmax.about[language]
    assert other.get_by_role("tooltip").is_visible()
    word.hover()
    assert tip.is_visible()


def test_escape_hides_the_explanation_before_it_ends_the_presentation(
    open_lesson: OpenLesson,
) -> None:
    page = open_lesson("masks", "rows").page
    page.locator(".words .prose dfn").first.wait_for()
    page.get_by_role("button", name="Present").click()
    presenting = page.locator(".presenting")
    presenting.wait_for()
    page.locator(".words dfn").first.focus()
    page.keyboard.press("Escape")
    assert presenting.is_visible() and not page.get_by_role("tooltip").first.is_visible()
    page.keyboard.press("Escape")
    presenting.wait_for(state="hidden")
