"""Opening a lesson and reading what its stage holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from tests.browser.rest import PAGE_MILLISECONDS, until

if TYPE_CHECKING:
    from playwright.sync_api import Page


def address(app_url: str, name: str, **params: str) -> str:
    """The address of a lesson."""
    return f"{app_url}/lessons?{urlencode({'lesson': name, 'lang': 'en', **params})}"


def ready(page: Page) -> None:
    """Wait until the stage has painted."""
    page.locator(".lesson canvas").wait_for()
    page.wait_for_function(ROOT + "?.lesson?.theme && root().lesson.stage.width > 0")


def settings(page: Page) -> dict[str, Any]:
    """The settings of the scene that is shown."""
    found: dict[str, Any] = page.evaluate(ROOT + ".lesson.settings()")
    return found


def inked(page: Page, least: float = 0.002) -> float:
    """Share of the picture's pixels that are not empty, as soon as it is more than the least, or after a long wait."""
    page.evaluate(INK)
    share = 0.0

    def enough() -> bool:
        nonlocal share  # that of this look: a moment later a new size may have emptied the picture again
        share = float(page.evaluate("window.ink()"))
        return share > least

    until(page, enough, PAGE_MILLISECONDS / 4)
    return share


def painted(page: Page, least: float = 0.002) -> None:
    """Wait until so large a share of the picture is not empty: a new size empties it until the next frame."""
    share = inked(page, least)
    assert share > least, f"{share:.4f} of the picture is painted"


# Canvas pixels that are painted, of all.
INK = """() => {
    window.ink = () => {
        const { canvas } = window.root().lesson.stage;
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        let count = 0;
        for (let i = 3; i < data.length; i += 4) count += data[i] > 0;
        return (4 * count) / data.length;
    };
}"""
# The stage lives in a shadow root.
FIND = """() => {
    const search = (node) => {
        const found = node.querySelector(".lesson");
        if (found) return found;
        for (const each of node.querySelectorAll("*")) {
            const inside = each.shadowRoot && search(each.shadowRoot);
            if (inside) return inside;
        }
        return null;
    };
    window.root = () => search(document);
}"""
ROOT = "window.root()"
