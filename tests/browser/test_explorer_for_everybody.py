"""The explorer in a real browser: hostile tokens, long sentences, telephones, screen readers, Korean."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser import explorer_samples as samples
from transformer_core.attention_maps import KINDS
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Dialog, Locator, Page


from tests.browser.explorer_driver import (
    ENGLISH,
    Open,
    cell_colors,
    choose,
    colors,
    map_of,
    painting,
    pixels,
    read_table,
    settle,
    shown,
)
from tests.browser.rest import quickest, rest, until


def sideways(page: Page) -> int:
    """How far the page scrolls sideways."""
    answer: int = page.evaluate(
        """() => Math.max(...[document.documentElement, document.querySelector("[data-testid=stMain]")]
          .map((node) => node.scrollWidth - node.clientWidth))"""
    )
    return answer


def test_hostile_tokens_appear_as_they_are_and_run_nothing(open_explorer: Open) -> None:
    page = open_explorer("hostile")
    dialogs: list[str] = []

    def dialog_opened(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dialog_opened)
    source, target = samples.HOSTILE
    assert page.locator(".pieces").all_inner_texts() == [*(shown(token) for token in target), "</s>"]
    page.locator(".beside .plain").click()
    settle(page)
    columns, rows, _ = read_table(page)
    assert columns == [*(shown(token) for token in source), "</s>"]
    assert rows == [*(shown(token) for token in target), "</s>"]
    for kind in KINDS:
        choose(page, f".kind-{kind}")
        page.locator(".map").focus()
        for _ in range(4):
            page.keyboard.press("ArrowRight")
        settle(page)
        assert "z" * 60 in page.locator(".table").inner_text() or kind == "decoder"
    assert page.locator(".explorer img, .explorer script, .explorer i").count() == 0
    assert not dialogs


def test_128_tokens_scroll_inside_and_stay_light(open_explorer: Open) -> None:
    page = open_explorer("128")
    maps = samples.long_sample(128)
    nodes = page.evaluate(
        """() => {
          const count = (root) => Array.from(root.querySelectorAll("*")).reduce(
            (sum, node) => sum + 1 + (node.shadowRoot ? count(node.shadowRoot) : 0), 0);
          return count(document);
        }"""
    )
    assert nodes < 2000
    page.locator(".beside .plain").click()
    settle(page)
    assert page.locator(".explorer").evaluate("(root) => root.querySelectorAll('*').length") < 2000
    page.locator(".map").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("PageDown")
    page.keyboard.press("End")
    settle(page)
    weight = map_of(maps, "cross")[127, 127]
    assert page.locator("figure.head > [aria-live]").inner_text() == f"head 4.6, '</s>' to '</s>', {weight:.2f}"
    page.keyboard.press("Escape")
    settle(page)
    image, place = pixels(page)
    last = image[-2 - place["cell"] // 2, :]
    scrolled = page.locator(".map").evaluate("(map) => map.scrollLeft")
    for key in (120, 125, 127):
        x = int(place["left"] + (key + 0.5) * place["cell"] - scrolled)
        assert (last[x] == colors(map_of(maps, "cross")[127], "light")[key]).all()
    paint = quickest(lambda: painting(page), 250)
    assert paint < 250, "48 tiles of 128 by 128 (20 ms are the aim on an idle machine)"
    assert sideways(page) <= 0


@pytest.mark.parametrize(
    "sample", [*(pytest.param(sample, marks=pytest.mark.slow) for sample in ("sentence", "hostile")), "128"]
)
def test_a_telephone_needs_no_sideways_scrolling(open_explorer: Open, sample: str) -> None:
    page = open_explorer(sample, width=390, height=844)
    for kind in KINDS:
        choose(page, f".kind-{kind}")
        assert sideways(page) <= 0
    choose(page, ".view-layer")
    assert sideways(page) <= 0


@pytest.mark.parametrize(
    ("language", "dark", "width"),
    [("en", False, 1280), pytest.param("ko", True, 1280, marks=pytest.mark.slow), ("ko", False, 390)],
)
def test_axe_finds_nothing_serious(
    open_explorer: Open, check_accessibility: Callable[[Page], None], language: str, dark: bool, width: int
) -> None:
    page = open_explorer(language=language, dark=dark, width=width)
    page.locator(".beside .plain").click()
    choose(page, ".kind-decoder")
    choose(page, ".view-layer")
    page.locator(".piece").first.focus()
    settle(page)
    check_accessibility(page)


def test_korean_speaks_korean(open_explorer: Open) -> None:
    page = open_explorer(language="ko")
    table = texts("ko").table("explorer")
    assert page.locator(".kind-cross").inner_text() == table["kind_cross"]
    root: Locator = page.locator(".explorer")
    assert root.get_attribute("lang") == "ko"
    english = set(ENGLISH.values()) & set(root.inner_text().splitlines())
    assert not english, f"left in English: {english}"


def test_a_larger_font_or_window_draws_again_without_a_reload(open_explorer: Open) -> None:
    page = open_explorer()
    wide = page.locator(".map").bounding_box()
    assert wide
    page.set_viewport_size({"width": 700, "height": 600})

    def narrower() -> bool:
        narrow = page.locator(".map").bounding_box()
        return narrow is not None and narrow["width"] <= 700 and narrow["width"] != wide["width"]

    assert until(page, narrower)
    rest(page)
    weights = map_of(samples.sample(*samples.SENTENCE), "cross")
    page.mouse.move(2, 2)
    settle(page)
    assert (cell_colors(page, *weights.shape) == colors(weights, "light")).all()
