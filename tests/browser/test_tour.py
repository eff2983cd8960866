"""The tour of Translate: once in a browser's life, skipped at will, and again from About."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import CheckAccessibility
from tests.browser.rest import PAGE_MILLISECONDS, wait_until_idle
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

STEPS = 5


@pytest.fixture
def newcomer(browser: Browser) -> Iterator[Page]:
    """A page in a browser that remembers nothing yet."""
    context = browser.new_context(locale="en-US", viewport={"width": 1280, "height": 720})
    context.set_default_timeout(PAGE_MILLISECONDS)
    yield context.new_page()
    context.close()


def test_it_is_shown_once_and_the_keyboard_leads_through_it(
    newcomer: Page, app_url: str, check_accessibility: CheckAccessibility
) -> None:
    t, page = texts("en"), newcomer
    page.goto(app_url)
    card = page.locator(".tour-card")
    for step in range(1, STEPS + 1):
        page.get_by_role("dialog", name=t(f"tour.title_{step}"), exact=True).wait_for()
        box, around = card.bounding_box(), page.locator(".tour-ring").bounding_box()
        assert box is not None and around is not None
        assert box["x"] >= 0 and box["y"] >= 0 and box["x"] + box["width"] <= 1280 and box["y"] + box["height"] <= 720
        apart = box["y"] >= around["y"] + around["height"] or box["y"] + box["height"] <= around["y"]
        beside = box["x"] >= around["x"] + around["width"] or box["x"] + box["width"] <= around["x"]
        assert apart or beside, f"the card of step {step} covers what it is about"
        if step == 1:
            check_accessibility(page)
        page.keyboard.press("Enter")  # the button that goes on has the focus
    card.wait_for(state="hidden")

    page.goto(app_url)
    _never(page)


def test_escape_skips_it_for_good_and_about_shows_it_again(newcomer: Page, app_url: str) -> None:
    t, page = texts("en"), newcomer
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(app_url)
    card = page.locator(".tour-card")
    card.wait_for()
    page.keyboard.press("Escape")
    card.wait_for(state="hidden")
    page.goto(app_url)
    _never(page)

    page.get_by_role("button", name=t("about.title")).click()
    page.get_by_role("button", name=t("about.tour")).click()
    page.get_by_role("dialog", name=t("tour.title_1"), exact=True).wait_for()
    assert not page.get_by_role("dialog", name=t("about.title")).is_visible()
    box = card.bounding_box()
    assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 390
    page.get_by_role("button", name=t("tour.skip"), exact=True).click()
    card.wait_for(state="hidden")


def test_a_link_that_says_something_shows_what_it_says(newcomer: Page, app_url: str) -> None:
    newcomer.goto(f"{app_url}/?text=A+dog.")
    _never(newcomer)
    assert newcomer.evaluate("localStorage.getItem('headlight-tour')") is None


def _never(page: Page) -> None:
    """The translation is there, and with time to spare no tour."""
    page.locator(".explorer .tile").first.wait_for()
    wait_until_idle(page)
    page.wait_for_timeout(600)
    assert not page.locator(".tour-card").is_visible()
