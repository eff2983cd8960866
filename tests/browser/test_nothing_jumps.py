"""Nothing moves by itself: while a page loads, while a sentence plays, under the pointer; pictures use their width."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.explorer_driver import Open, choose, patch, press, settle
from tests.browser.rest import settled

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import OpenPage

GOOD = 0.1  # "good" is below that, https://web.dev/articles/cls
# What has moved since the page began, as a share of the window; with `all` also soon after a press.
SHIFT = """(all) => new Promise((done) => {
    let sum = 0;
    const add = (list) => {
        for (const { value, hadRecentInput } of list.getEntries()) if (all || !hadRecentInput) sum += value;
    };
    new PerformanceObserver(add).observe({ type: "layout-shift", buffered: true });
    setTimeout(() => done(sum), 100);
})"""
BOXES = """(all) => all.map((one) => { const { x, y, width, height } = one.getBoundingClientRect();
    return [x, y, width, height]; })"""


OPENED = [("", 1280), ("", 390), ("lessons?lesson=positions", 1280), ("lab", 1280)]
OPENED += [(path, width) for path in ("figures", "model") for width in (1280, 390)]


@pytest.mark.parametrize(("path", "width"), OPENED)
def test_the_app_loads_without_a_jump(open_page: OpenPage, app_url: str, path: str, width: int) -> None:
    page = open_page(f"{app_url}/{path}", width=width, height=844 if width == 390 else 720)
    page.locator(".explorer .tile, .lesson canvas, .st-key-figures-paper img").first.wait_for(state="attached")
    settled(page)
    assert page.evaluate(SHIFT, False) < GOOD
    picture = page.locator(".explorer .map-frame")
    if path != "model" and picture.count():
        assert picture.evaluate_all(BOXES)[0][1] < 500, "the picture begins on the first screen"


@pytest.mark.parametrize("width", [1280, 390])
def test_while_a_sentence_plays_and_a_token_is_pinned_nothing_moves(open_explorer: Open, width: int) -> None:
    page = open_explorer(width=width)
    press(page, ".kind-cross", "Home")
    settle(page)
    before = page.evaluate(SHIFT, True)
    for _ in range(4):
        page.keyboard.press("ArrowRight")
        settle(page)
    patch(page, pin="q1", step=None)
    assert page.locator(".candidates").is_visible()
    assert page.evaluate(SHIFT, True) - before < 0.001


def test_no_tile_moves_under_the_pointer(explorer: Page) -> None:
    tiles = explorer.locator(".tile")
    choose(explorer, ".tile >> nth=9")
    before = tiles.evaluate_all(BOXES)
    for index in (0, 20, 47):
        tiles.nth(index).hover()
        settle(explorer)
        patch(explorer, pin=f"q{index % 5}")  # lays out anew
        assert tiles.evaluate_all(BOXES) == before


@pytest.mark.parametrize("width", [1280, 1920])
@pytest.mark.parametrize(("view", "form"), [("heads", "map"), ("kinds", "flow")])
def test_all_heads_fill_the_width_of_the_window(open_explorer: Open, width: int, view: str, form: str) -> None:
    page = open_explorer(width=width, height=width * 9 // 16)
    patch(page, form=form, view=view)
    choose(page, ".zoom-heads")
    choose(page, f".view-{view}")
    assert not page.locator("figure.head").is_visible()
    right = max(x + extent for x, _, extent, _ in page.locator(".tile").evaluate_all(BOXES))
    bottom = max(y + extent for _, y, _, extent in page.locator(".tile").evaluate_all(BOXES))
    assert width - 40 <= right <= width and bottom <= width * 9 / 16


def test_the_large_map_uses_a_wide_window(open_explorer: Open) -> None:
    page = open_explorer(width=1920, height=1080)
    patch(page, form="map")
    (_, _, extent, _), (_, _, available, _) = page.locator(".map, figure.head").evaluate_all(BOXES)[::-1]
    assert extent > 0.6 * available
