"""Pages of the explorer that are handed on from test to test, where they are as they were when they were opened.

Opening one costs more than most tests do with it. After a test the page gets its first state back; when it then differs
in anything from what it was, it is closed, and the next test gets a new one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.browser.rest import rest, until

if TYPE_CHECKING:
    from playwright.sync_api import Page

Options = tuple[tuple[str, Any], ...]

PATIENCE = 2_000  # milliseconds until a page is as it was: Python has heard of it and has answered
STATE = "(root) => structuredClone(root.explorer.store.state)"
# What a test may have moved or made the page say, beside the state.
RESTORE = """(root, state) => {
    root.getRootNode().activeElement?.blur();
    document.activeElement?.blur();
    root.explorer.store.set(state);
    root.explorer.store.touch(state);
    root.explorer.pointing = false;
    for (const each of root.querySelectorAll("*")) each.scrollTo(0, 0);
    for (const each of document.querySelectorAll("*")) each.scrollTo(0, 0);
    for (const live of root.querySelectorAll("[aria-live]")) live.textContent = "";
}"""
# All that a test could see, but for what is hidden: that is filled anew when it is shown.
LOOK = """(root) => {
    const seen = root.cloneNode(true);
    seen.querySelectorAll("[hidden]").forEach((one) => one.remove());
    seen.querySelectorAll("[style='']").forEach((one) => one.removeAttribute("style"));
    return {
        width: innerWidth,
        height: innerHeight,
        still: matchMedia("(prefers-reduced-motion: reduce)").matches,
        dark: matchMedia("(prefers-color-scheme: dark)").matches,
        address: location.href,
        title: document.title,
        state: JSON.stringify(root.explorer.store.state),
        reported: root.explorer.reported,
        values: Array.from(root.querySelectorAll("input, select"), (one) => `${one.value} ${one.checked}`),
        explorer: seen.outerHTML,
        page: document.querySelector("[data-testid=stMain]").outerHTML,
    };
}"""


class Kept:
    """Pages by how they were opened."""

    def __init__(self) -> None:
        self._free: dict[Options, tuple[Page, Any, Any]] = {}
        self._used: list[tuple[Options, Page, Any, Any]] = []

    def take(self, options: Options, opener: Callable[[], Page]) -> Page:
        """A page that was opened like this, or a new one."""
        page, state, look = self._free.pop(options) if options in self._free else self._opened(opener)
        self._used.append((options, page, state, look))
        return page

    def give_back(self) -> None:
        """Keep what was taken, as far as it is as it was."""
        for options, page, state, look in self._used:
            if not page.is_closed() and _restored(page, state, look):
                self._free[options] = (page, state, look)
            else:
                page.context.close()
        self._used.clear()

    def _opened(self, opener: Callable[[], Page]) -> tuple[Page, Any, Any]:
        page = opener()
        root = page.locator(".explorer")
        return page, root.evaluate(STATE), root.evaluate(LOOK)


def _restored(page: Page, state: Any, look: Any) -> bool:
    root = page.locator(".explorer")
    if root.count() != 1:
        return False
    page.set_viewport_size({"width": look["width"], "height": look["height"]})
    page.emulate_media(
        color_scheme="dark" if look["dark"] else "light",
        reduced_motion="reduce" if look["still"] else "no-preference",
    )
    page.mouse.move(2, 2)
    root.evaluate(RESTORE, state)
    rest(page)
    return until(page, lambda: bool(root.evaluate(LOOK) == look), PATIENCE)
