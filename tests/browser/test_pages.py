"""Every page in both languages, on a large screen and on a phone, light and dark: it fits, and axe finds nothing."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from tests.browser.app_driver import SENTENCE, press_tool, sideways
from tests.browser.conftest import CheckAccessibility, OpenPage
from tests.browser.figures_driver import PREVIEW
from tests.browser.rest import settled, wait_until_idle
from transformer_core import __version__
from viz_app.text import texts
from viz_app.ui.about import CITATION

if TYPE_CHECKING:
    from playwright.sync_api import Page

# What is there when a page has been drawn.
PAGES = {
    f"?text={SENTENCE}&form=map": ".explorer .tile",
    f"figures?text={SENTENCE}": PREVIEW,
    "model?": ".explorer .tile",
    "lessons?": ".index button.stop",
}
EDGES = """(all) => all.map((one) => one.getBoundingClientRect()).filter(({ width }) => width)
    .map(({ left, right }) => [left, right]).sort(([a], [b]) => a - b)"""
LOOKS = [("en", 1280, False), ("ko", 390, True)]
# Each page in one of the two looks, in turn; the slow run sees both. Figures has a journey of its own.
VIEWS = [
    pytest.param(address, *look, marks=[pytest.mark.slow] if number == 1 or (number + place) % 2 else [])
    for number, address in enumerate(PAGES)
    for place, look in enumerate(LOOKS)
]


def downloads(page: Page, _: str) -> None:
    """Open the files of the translation."""
    press_tool(page, "download")
    page.get_by_role("button", name="PDF", exact=True).wait_for()


def collection(page: Page, language: str) -> None:
    """Put a figure into the collection, and open further options."""
    t = texts(language)
    page.get_by_text(t("figures_page.more"), exact=True).click()
    page.get_by_role("button", name=t("figures_page.add")).click()
    page.get_by_role("button", name=t("figures_page.remove", number=1)).wait_for()


def about(page: Page, language: str) -> None:
    """Open About in the menu by keyboard: version, citation, licences and keys."""
    t = texts(language)
    page.get_by_role("button", name="Main menu").focus()
    page.keyboard.press("Enter")
    page.get_by_role("menuitem", name="About").press("Enter")
    dialog = page.get_by_role("dialog", name="About")
    for words in (f"Headlight {__version__}", t("about.key_space"), t("about.licences")):
        dialog.get_by_text(words, exact=True).wait_for()
    dialog.get_by_text(CITATION.splitlines()[0]).wait_for()


ACTS = {"?": downloads, "f": collection, "l": about}  # by the first letter of the address


@pytest.mark.parametrize(("address", "language", "width", "dark"), VIEWS)
def test_a_page_fits_and_can_be_used_by_everybody(
    open_page: OpenPage,
    app_url: str,
    check_accessibility: CheckAccessibility,
    address: str,
    language: str,
    width: int,
    dark: bool,
) -> None:
    page = open_page(f"{app_url}/{address}&lang={language}", width=width, height=844, dark=dark, still=True)
    page.locator(PAGES[address]).first.wait_for()
    wait_until_idle(page)
    assert page.locator("html").get_attribute("lang") == language
    assert sideways(page) <= 0
    lefts_and_rights = page.locator("header button:visible, .st-key-language button").evaluate_all(EDGES)
    assert len(lefts_and_rights) >= 3  # two languages, the menu
    assert all(right <= left + 1 for (_, right), (left, _) in pairwise(lefts_and_rights)), "parts of the header overlap"
    if width < 768:
        links = page.get_by_role("navigation").get_by_role("link")
        assert links.count() == 6
        for link in links.all():
            assert link.inner_text().strip()
            box = link.bounding_box()
            assert box and min(box["width"], box["height"]) >= 44 and box["y"] + box["height"] <= 844
            link.click(trial=True)  # nothing lies over it
    assert page.get_by_role("heading", level=1).count() == 1
    assert all(page.get_by_role("heading").all_inner_texts()), "a heading is empty"
    check_accessibility(page)
    if act := ACTS.get(address[0]):
        act(page, language)
        settled(page)
        assert sideways(page) <= 0
        check_accessibility(page)
        page.keyboard.press("Escape")
