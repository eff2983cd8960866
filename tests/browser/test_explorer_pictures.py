"""The explorer in a real browser: what it draws and says is what the maps say."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.browser import explorer_samples as samples
from tests.browser.explorer_driver import (
    ENGLISH,
    HEAD,
    LAYER,
    MAPS,
    Open,
    allowed,
    cell_colors,
    check_table,
    choose,
    colors,
    inside,
    map_of,
    place_of,
    selected,
    setting,
    settle,
    shown,
)
from tests.browser.rest import until
from transformer_core.attention_maps import KINDS
from viz_app.figures.colours.palette import MASK_HATCH, THEMES, Theme
from viz_app.text import fill

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_it_opens_with_the_translation_one_large_head_and_all_tiles(explorer: Page) -> None:
    assert explorer.locator(".tile").count() == 48
    assert selected(explorer) == "4.6"
    assert explorer.locator(".tokens").all_text_contents() == list(MAPS.outputs.word_texts)
    assert re.fullmatch(
        r"Generating \S+: head cross\.4\.6 attends to \S+ \(\d+\s%\)\.", explorer.locator(".caption").inner_text()
    )
    assert "not a translation of the word" in explorer.locator(".words-note").inner_text()
    bottom = explorer.locator(".tiles").bounding_box()
    assert bottom is not None and bottom["y"] + bottom["height"] <= 720


def test_the_caption_tells_the_longest_content_word_of_the_nearly_sharpest_rows(explorer: Page) -> None:
    weights = map_of(MAPS, "cross")
    text = weights[:-1, :-1]  # the last query and the last key are </s>
    sharpness = text.max(axis=1)
    outputs = MAPS.outputs
    follows = [shown(token).isalnum() and not token.startswith("\u2581") for token in outputs.tokens]
    whole = [not part and not after for part, after in itertools.pairwise(follows)]
    content = np.array([len(shown(token)) > 3 for token in outputs.tokens[:-1]]) & np.array(whole)
    assert content.any() and not content.all()
    sharpness = np.where(content, sharpness, 0)
    near = [int(row) for row in np.flatnonzero(sharpness > sharpness.max() - 0.1)]
    query = max(near, key=lambda row: len(shown(MAPS.outputs.tokens[row])))
    key = int(weights[query].argmax())
    expected = fill(
        ENGLISH["caption_cross"],
        query=shown(MAPS.outputs.tokens[query]),
        key=shown(MAPS.source.tokens[key]),
        head="cross.4.6",
        weight=f"{round(float(weights[query, key]) * 100)}\u202f%",
    )
    assert explorer.locator(".caption").inner_text() == expected


def test_the_gloss_is_the_favourite_source_word_of_the_last_cross_head(explorer: Page) -> None:
    words = MAPS.merged_to_words()

    def expected(layer: int, head: int) -> list[str]:
        favourites = words.cross[layer, head][:-1, :-1].argmax(axis=1)
        return [words.source.tokens[key] for key in favourites]

    assert explorer.locator(".gloss").all_inner_texts()[:-1] == expected(LAYER, HEAD)
    choose(explorer, ".tile >> nth=10")  # head 2.3
    assert explorer.locator(".gloss").all_inner_texts()[:-1] == expected(1, 2)
    choose(explorer, ".kind-encoder")
    choose(explorer, ".tile >> nth=0")
    assert explorer.locator(".gloss").all_inner_texts()[:-1] == expected(1, 2)


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_each_cell_has_the_color_of_its_weight(open_explorer: Open, theme: Theme) -> None:
    page = open_explorer(dark=theme == "dark")
    page.mouse.move(2, 2)
    for kind, tile in zip(KINDS, (29, 47, 12), strict=True):
        choose(page, f".kind-{kind}")
        choose(page, f".tile >> nth={tile}")
        weights = map_of(MAPS, kind, tile // 8, tile % 8)
        result, plain = cell_colors(page, *weights.shape), allowed(kind, weights.shape)
        assert (result[plain] == colors(weights, theme)[plain]).all(), f"{kind}, tile {tile}"


def test_a_change_of_theme_is_drawn_without_new_data(explorer: Page) -> None:
    explorer.mouse.move(2, 2)
    weights = map_of(MAPS, "cross")
    for theme in THEMES:
        explorer.emulate_media(color_scheme=theme)
        expected = colors(weights, theme)
        assert until(explorer, lambda e=expected: bool((cell_colors(explorer, *weights.shape) == e).all())), theme  # type: ignore[misc]


def test_a_masked_cell_is_hatched_and_a_zero_is_not(explorer: Page) -> None:
    choose(explorer, ".kind-decoder")
    assert len(inside(explorer, 2, 0)) == 1, "an allowed cell is one plain colour"
    masked = inside(explorer, 0, 5)
    hatch = np.array([int(MASK_HATCH["light"][i : i + 2], 16) for i in (1, 3, 5)])
    assert len(masked) > 1 and min(np.abs(np.array(pixel) - hatch).max() for pixel in masked) < 24


@pytest.mark.parametrize("sample", ["sentence", "cut"])
def test_tokens_and_words_in_the_table_are_those_of_python(open_explorer: Open, sample: str) -> None:
    page = open_explorer(sample)
    tokens = samples.sample(*samples.SENTENCE, finished=sample != "cut")
    page.locator(".beside .tool.plain").click()
    for unit, maps in (("tokens", tokens), ("words", tokens.merged_to_words())):
        setting(page, f".unit-{unit}")
        for kind in KINDS:
            choose(page, f".kind-{kind}")
            check_table(page, maps.keys(kind).tokens, maps.queries(kind).tokens, map_of(maps, kind))


def test_a_cell_under_the_pointer_tells_its_value_and_row_sum(explorer: Page) -> None:
    weights = map_of(MAPS, "cross")
    place = place_of(explorer)
    left, top, cell = (place[name] for name in ("left", "top", "cell"))
    explorer.locator(".map").hover(position={"x": left + 4.5 * cell, "y": top + 3.5 * cell})
    settle(explorer)
    readout = explorer.locator(".readout").inner_text()
    assert f"{weights[3, 4]:.3f}" in readout
    assert (
        "Generating the token Hund after uner" in readout and "attends to run" in readout and "row sum 1.000" in readout
    )
