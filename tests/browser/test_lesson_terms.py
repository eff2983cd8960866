"""Words of the glossary explain themselves where they stand: to the pointer, the keyboard and a screen reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.lesson_driver import address
from viz_app.lessons import terms

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_term_explains_itself(
    language: str, open_page: Callable[..., Page], app_url: str, check_accessibility: Callable[[Page], None]
) -> None:
    page = open_page(address(app_url, "masks", scene="rows", lang=language), width=390, height=900)
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
    open_page: Callable[..., Page], app_url: str
) -> None:
    page = open_page(address(app_url, "masks", scene="rows"))
    page.locator(".words .prose dfn").first.wait_for()
    page.get_by_role("button", name="Present").click()
    presenting = page.locator(".presenting")
    presenting.wait_for()
    page.locator(".words dfn").first.focus()
    page.keyboard.press("Escape")
    assert presenting.is_visible() and not page.get_by_role("tooltip").first.is_visible()
    page.keyboard.press("Escape")
    presenting.wait_for(state="hidden")
