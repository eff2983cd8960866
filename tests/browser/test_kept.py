"""A page of the explorer is handed on as it was, and closed when it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.explorer_driver import PAGE, choose, state
from tests.browser.kept import Kept
from tests.browser.rest import rest

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import OpenPage, Serve


def test_a_page_is_handed_on_as_it_was(open_page: OpenPage, serve: Serve) -> None:
    kept, opened = Kept(), []

    def opener() -> Page:
        opened.append(open_page(f"{serve(PAGE)}/?sample=sentence"))
        opened[-1].locator(".explorer .tile").first.wait_for()
        rest(opened[-1])
        return opened[-1]

    page = kept.take(("same",), opener)
    before = state(page, "kind")
    choose(page, ".kind-encoder" if before != "encoder" else ".kind-decoder")
    kept.give_back()
    assert kept.take(("same",), opener) is page and len(opened) == 1 and state(page, "kind") == before
    page.locator(".explorer .tile").first.evaluate("(tile) => tile.remove()")
    kept.give_back()
    assert page.is_closed()
    assert kept.take(("same",), opener) is not page
