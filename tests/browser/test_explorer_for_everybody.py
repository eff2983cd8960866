"""The explorer in a real browser: long sentences, telephones, screen readers, Korean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser import explorer_samples as samples
from tests.browser.app_driver import sideways
from tests.browser.explorer_driver import (
    ENGLISH,
    MAPS,
    Open,
    allowed,
    announced,
    cell_colors,
    choose,
    colors,
    map_of,
    nodes,
    painting,
    pixels,
    place_of,
    press,
    read_table,
    settle,
)
from tests.browser.rest import quickest, rest, until
from transformer_core.attention_maps import KINDS
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import CheckAccessibility


def test_128_tokens_scroll_inside_and_stay_light(open_explorer: Open) -> None:
    page = open_explorer("128")
    maps = samples.long_sample(128)
    assert page.locator("*").count() < 2000, "on the whole page"
    page.locator(".beside .tool.plain").click()
    settle(page)
    assert nodes(page) < 2000
    press(page, ".map", "ArrowDown", "PageDown", "End")
    weight = map_of(maps, "cross")[127, 127]
    assert announced(page) == f"head cross.4.6, '</s>' to '</s>', {weight:.2f}"
    page.keyboard.press("Escape")
    settle(page)
    place = place_of(page)
    last = pixels(page)[-2 - int(place["cell"]) // 2, :]
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
    open_explorer: Open, check_accessibility: CheckAccessibility, language: str, dark: bool, width: int
) -> None:
    page = open_explorer(language=language, dark=dark, width=width)
    page.locator(".beside .tool.plain").click()
    choose(page, ".kind-decoder")
    choose(page, ".view-layer")
    page.locator(".token").first.focus()
    settle(page)
    check_accessibility(page)


def test_korean_speaks_korean(open_explorer: Open) -> None:
    page = open_explorer(language="ko")
    table = texts("ko").table("explorer")
    assert page.locator(".kind-cross").inner_text() == table["kind_cross"]
    root = page.locator(".explorer")
    assert root.get_attribute("lang") == "ko"
    english = set(ENGLISH.values()) & set(root.inner_text().splitlines())
    assert not english, f"left in English: {english}"


def test_a_larger_font_or_window_draws_again_without_a_reload(explorer: Page) -> None:
    wide = explorer.locator(".map").bounding_box()
    assert wide
    explorer.set_viewport_size({"width": 700, "height": 600})

    def narrower() -> bool:
        narrow = explorer.locator(".map").bounding_box()
        return narrow is not None and narrow["width"] <= 700 and narrow["width"] != wide["width"]

    assert until(explorer, narrower)
    rest(explorer)
    weights = map_of(MAPS, "cross")
    explorer.mouse.move(2, 2)
    settle(explorer)
    assert (cell_colors(explorer, *weights.shape) == colors(weights, "light")).all()


def test_in_front_of_a_class_every_word_has_16_pixels(explorer: Page) -> None:
    explorer.get_by_role("button", name=ENGLISH["present"]).click()
    explorer.locator(".explorer.presenting").wait_for()
    sizes = """(root) => Array.from(root.querySelectorAll("*"))
      .filter((node) => node.offsetParent && Array.from(node.childNodes).some((child) => child.data?.trim()))
      .map((node) => parseFloat(getComputedStyle(node).fontSize))"""
    value = explorer.locator(".explorer").evaluate(sizes)
    assert len(value) > 50 and min(value) >= 16
    assert explorer.locator(".explorer").evaluate("(root) => root.explorer.figure.map.labels.size") == 16
    explorer.keyboard.press("Escape")
    explorer.locator(".explorer.presenting").wait_for(state="detached")


def test_at_512_tokens_it_answers_with_few_nodes(open_explorer: Open) -> None:
    page = open_explorer("512")
    assert nodes(page) <= 2200  # 3000 in all; 144 tiles need 800 of them at most
    before = page.locator(".caption").inner_text()
    choose(page, ".kind-encoder")
    assert page.locator(".caption").inner_text() != before
    page.locator(".token").nth(1).focus()
    settle(page)
    assert page.locator(".popover").is_visible()


def test_kinds_may_differ_in_layers_and_heads_and_rows_may_be_all_zeros(open_explorer: Open) -> None:
    page = open_explorer("uneven")
    maps = samples.uneven_sample()
    for kind in KINDS:
        choose(page, f".kind-{kind}")
        layers, heads = maps.weights(kind).shape[:2]
        assert page.locator(".tile").count() == layers * heads, kind
        page.locator(".tile").last.click()
        page.mouse.move(2, 2)
        settle(page)
        weights = maps.weights(kind)[-1, -1]
        result = cell_colors(page, *weights.shape)
        visible = allowed(kind, weights.shape) & (weights.sum(-1, keepdims=True) > 0)  # others are hatched
        assert (result[visible] == colors(weights, "light")[visible]).all(), kind
    # The second row of the encoder-decoder attention looks nowhere; the table says so too.
    page.locator("button.plain", has_text="Table").first.click()
    settle(page)
    _, _, cells = read_table(page)
    assert set(cells[1]) <= {"–", "0.000"} and not set(cells[0]) <= {"–", "0.000"}
