"""The check that other tests trust: what axe finds counts, of colours in each scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import CheckAccessibility

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# A button without a name, and a text that is faint in the dark; Streamlit's attributes say that the page is at rest.
BROKEN = """<!doctype html><html lang="en"><title>Page</title><main data-testid="stApp"
data-test-script-state="notRunning"><h1>Title</h1>
<style>@media (prefers-color-scheme: dark) { p { color: #333; background: #000 } }</style>
<button></button><p>Text</p></main></html>"""


def test_a_name_and_a_contrast_that_are_missing_are_seen(
    browser: Browser, check_accessibility: CheckAccessibility
) -> None:
    page = browser.new_page()
    try:
        page.set_content(BROKEN)
        with pytest.raises(AssertionError, match="light scheme: button-name"):
            check_accessibility(page, "light")
        page.locator("button").evaluate("(button) => { button.textContent = 'Name'; }")
        check_accessibility(page, "light")
        with pytest.raises(AssertionError, match="dark scheme: color-contrast"):
            check_accessibility(page, "light", "dark")
    finally:
        page.close()
