"""The check that other tests trust: what axe finds on a page at rest counts, each time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.conftest import CheckAccessibility

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# A button without a name; Streamlit's attributes say that the page is at rest.
BROKEN = """<!doctype html><html lang="en"><title>Page</title><main data-testid="stApp"
data-test-script-state="notRunning"><h1>Title</h1><button id="it"></button></main></html>"""

FAINT_IN_THE_DARK = BROKEN.replace("</main>", "<p>Text</p></main>").replace(
    "<button", "<style>@media (prefers-color-scheme: dark) { p { color: #333; background: #000 } }</style><button"
)


def test_a_second_scheme_is_looked_at_for_its_colours(
    browser: Browser, check_accessibility: CheckAccessibility
) -> None:
    page = browser.new_page()
    try:
        page.set_content(FAINT_IN_THE_DARK.replace("></button>", ">Named</button>"))
        check_accessibility(page, "light")
        with pytest.raises(AssertionError, match=r"dark scheme: color-contrast"):
            check_accessibility(page, "light", "dark")
    finally:
        page.close()


def test_a_defect_that_one_of_several_looks_misses_is_found(
    browser: Browser, check_accessibility: CheckAccessibility, monkeypatch: pytest.MonkeyPatch
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe
    look = axe.run
    names = iter(["", "Named", ""])  # of the button at each look

    def run(self: Any, page: Page, options: Any) -> Any:
        page.locator("button").evaluate("(button, name) => { button.textContent = name; }", next(names))
        return look(self, page, options=options)

    monkeypatch.setattr(axe, "run", run)
    page = browser.new_page()
    try:
        page.set_content(BROKEN)
        with pytest.raises(AssertionError, match="button-name"):
            check_accessibility(page)
        check_accessibility(page)  # now it has a name
    finally:
        page.close()
