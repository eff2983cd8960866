"""Pages of the explorer that are handed on from test to test, where they are as they were when they were opened.

Opening one costs more than most tests do with it. After a test the page gets its first state back; when it then differs
in anything from what it was, it is closed, and the next test gets a new one. Those that no test has asked for longest
are closed too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.browser.rest import rest, until

if TYPE_CHECKING:
    from playwright.sync_api import Page

Options = tuple[object, ...]

MAX = 4  # pages that no test uses
PATIENCE = 2_000  # milliseconds until a page is as it was: Python has heard of it and has answered
STATE = "(root) => structuredClone(root.explorer.store.state)"
TRANSLATION = "(root) => root.explorer.translation.id"
# What a test may have moved or made the page say, beside the state.
RESTORE = """(root, state) => {
    root.getRootNode().activeElement?.blur();
    document.activeElement?.blur();
    root.explorer.store.set(state);
    root.explorer.store.touch(state);
    root.explorer.pointing = false;
    root.explorer.candidates.used = false;
    for (const each of root.querySelectorAll("*")) each.scrollTo(0, 0);
    for (const each of document.querySelectorAll("*")) each.scrollTo(0, 0);
    for (const live of root.querySelectorAll("[aria-live]")) live.textContent = "";
}"""
# All that a test could see, but for what is hidden: that is filled anew when it is shown.
LOOK = """(root) => {
    const TERM = /term-\\d+/g;  // explanations are numbered as they are written
    const seen = root.cloneNode(true);
    seen.querySelectorAll("[hidden]").forEach((one) => one.remove());
    seen.querySelectorAll("[style='']").forEach((one) => one.removeAttribute("style"));
    return {
        width: innerWidth,
        height: innerHeight,
        still: matchMedia("(prefers-reduced-motion: reduce)").matches,
        dark: matchMedia("(prefers-color-scheme: dark)").matches,
        translation: root.explorer.translation.id,
        address: location.href,
        title: document.title,
        state: JSON.stringify(root.explorer.store.state),
        reported: root.explorer.report.reported,
        values: Array.from(root.querySelectorAll("input, select"), (one) => `${one.value} ${one.checked}`),
        explorer: seen.outerHTML.replace(TERM, "term"),
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
        free = self._free.pop(options, None)
        page, state, look = free if free and not free[0].is_closed() else self._opened(opener)
        self._used.append((options, page, state, look))
        page.bring_to_front()  # Chromium draws one frame a second in a page behind another
        return page

    def give_back(self) -> None:
        """Keep what was taken, as far as it is as it was."""
        for options, page, state, look in self._used:
            if not page.is_closed() and _restored(page, state, look):
                self._free[options] = (page, state, look)
            else:
                page.close()
        self._used.clear()
        while len(self._free) > MAX:
            self._free.pop(next(iter(self._free)))[0].close()

    def _opened(self, opener: Callable[[], Page]) -> tuple[Page, Any, Any]:
        page = opener()
        root = page.locator(".explorer")
        return page, root.evaluate(STATE), root.evaluate(LOOK)


def _restored(page: Page, state: Any, look: Any) -> bool:
    root = page.locator(".explorer")
    if root.count() != 1 or root.evaluate(TRANSLATION) != look["translation"]:
        return False
    page.set_viewport_size({"width": look["width"], "height": look["height"]})
    page.emulate_media(
        color_scheme="dark" if look["dark"] else "light",
        reduced_motion="reduce" if look["still"] else "no-preference",
    )
    page.bring_to_front()
    page.mouse.move(2, 2)
    root.evaluate(RESTORE, state)
    rest(page)
    return until(page, lambda: bool(root.evaluate(LOOK) == look), PATIENCE)
