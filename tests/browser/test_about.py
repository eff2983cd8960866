"""About: in sight on every page, read by everybody."""

from __future__ import annotations

import pytest

from tests.browser.app_driver import sideways
from tests.browser.conftest import CheckAccessibility, OpenPage
from transformer_core import __version__
from viz_app.text import texts
from viz_app.ui.about import CITATION


@pytest.mark.parametrize(("language", "width", "dark"), [("en", 1280, False), ("ko", 390, True)])
def test_about_tells_version_citation_licences_and_keys(
    language: str, width: int, dark: bool, open_page: OpenPage, app_url: str, check_accessibility: CheckAccessibility
) -> None:
    t = texts(language)
    page = open_page(f"{app_url}/lessons?lang={language}", width=width, height=844, dark=dark, still=True)
    button = page.get_by_role("button", name=t("about.title"))
    button.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name=t("about.title"))
    dialog.get_by_text(f"Headlight {__version__}", exact=True).wait_for()
    for words in (t("about.key_space"), t("about.licences")):
        dialog.get_by_text(words, exact=True).wait_for()
    dialog.get_by_text(CITATION.splitlines()[0]).wait_for()
    assert sideways(page) == 0
    check_accessibility(page)
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
