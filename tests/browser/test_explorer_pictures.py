"""The explorer in a real browser: what it draws and says is what the maps say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.browser import explorer_samples as samples
from transformer_core.attention_maps import KINDS
from viz_app.figures.colours.palette import MASK_HATCH, THEMES, Theme
from viz_app.text import fill

if TYPE_CHECKING:
    pass


from tests.browser.explorer_driver import (
    ENGLISH,
    HEAD,
    LAYER,
    Open,
    cell_colors,
    choose,
    colors,
    map_of,
    numbers,
    pixels,
    read_table,
    setting,
    settle,
    shown,
)
from tests.browser.rest import until


def test_it_opens_with_the_translation_one_large_head_and_all_tiles(open_explorer: Open) -> None:
    page = open_explorer()
    maps = samples.sample(*samples.SENTENCE)
    assert page.locator(".tile").count() == 48
    assert page.locator(".tile[aria-selected=true]").get_attribute("data-head") == "4.6"
    assert page.locator(".pieces").all_text_contents() == list(maps.outputs.word_texts)
    assert re.fullmatch(r"Generating \S+: head 4\.6 attends to \S+ \(\d+\s%\)\.", page.locator(".caption").inner_text())
    assert "not a dictionary" in page.locator(".words-note").inner_text()
    bottom = page.locator(".tiles").bounding_box()
    assert bottom is not None and bottom["y"] + bottom["height"] <= 720


def test_the_caption_tells_the_longest_word_of_the_nearly_sharpest_rows(open_explorer: Open) -> None:
    page = open_explorer()
    maps = samples.sample(*samples.SENTENCE)
    weights = map_of(maps, "cross")
    text = weights[:-1, :-1]  # the last query and the last key are </s>
    sharpness = text.max(axis=1)
    near = [int(row) for row in np.flatnonzero(sharpness > sharpness.max() - 0.1)]
    query = max(near, key=lambda row: len(shown(maps.outputs.tokens[row])))
    key = int(weights[query].argmax())
    expected = fill(
        ENGLISH["caption_cross"],
        query=shown(maps.outputs.tokens[query]),
        key=shown(maps.source.tokens[key]),
        head="4.6",
        weight=f"{round(float(weights[query, key]) * 100)}\u202f%",
    )
    assert page.locator(".caption").inner_text() == expected


def test_the_gloss_is_the_favourite_source_word_of_the_last_cross_head(open_explorer: Open) -> None:
    page = open_explorer()
    words = samples.sample(*samples.SENTENCE).merged_to_words()

    def expected(layer: int, head: int) -> list[str]:
        favourites = words.cross[layer, head][:-1, :-1].argmax(axis=1)
        return [words.source.tokens[key] for key in favourites]

    assert page.locator(".gloss").all_inner_texts()[:-1] == expected(LAYER, HEAD)
    choose(page, ".tile >> nth=10")  # head 2.3
    assert page.locator(".gloss").all_inner_texts()[:-1] == expected(1, 2)
    choose(page, ".kind-encoder")
    choose(page, ".tile >> nth=0")
    assert page.locator(".gloss").all_inner_texts()[:-1] == expected(1, 2)


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_each_cell_has_the_color_of_its_weight(open_explorer: Open, theme: Theme) -> None:
    page = open_explorer(dark=theme == "dark")
    page.mouse.move(2, 2)
    maps = samples.sample(*samples.SENTENCE)
    for kind, tile in zip(KINDS, (29, 47, 12), strict=True):
        choose(page, f".kind-{kind}")
        choose(page, f".tile >> nth={tile}")
        weights = map_of(maps, kind, tile // 8, tile % 8)
        found = cell_colors(page, *weights.shape)
        allowed = np.tril(np.ones(weights.shape, bool)) if kind == "decoder" else np.ones(weights.shape, bool)
        assert (found[allowed] == colors(weights, theme)[allowed]).all(), f"{kind}, tile {tile}"


def test_a_change_of_theme_is_drawn_without_new_data(open_explorer: Open) -> None:
    page = open_explorer()
    page.mouse.move(2, 2)
    weights = map_of(samples.sample(*samples.SENTENCE), "cross")
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        expected = colors(weights, theme)
        assert until(page, lambda e=expected: bool((cell_colors(page, *weights.shape) == e).all())), theme  # type: ignore[misc]


def test_a_masked_cell_is_hatched_and_a_zero_is_not(open_explorer: Open) -> None:
    page = open_explorer()
    choose(page, ".kind-decoder")
    image, place = pixels(page)

    def cell(query: int, key: int) -> set[tuple[int, ...]]:
        top = place["top"] + query * place["cell"]
        left = place["left"] + key * place["cell"]
        inner = image[top + 2 : top + place["cell"] - 2, left + 2 : left + place["cell"] - 2]
        return {tuple(pixel) for pixel in inner.reshape(-1, 3).tolist()}

    assert len(cell(2, 0)) == 1, "an allowed cell is one plain colour"
    masked = cell(0, 5)
    hatch = np.array([int(MASK_HATCH["light"][i : i + 2], 16) for i in (1, 3, 5)])
    assert len(masked) > 1 and min(np.abs(np.array(pixel) - hatch).max() for pixel in masked) < 24


@pytest.mark.parametrize("sample", ["sentence", "cut"])
def test_pieces_and_words_in_the_table_are_those_of_python(open_explorer: Open, sample: str) -> None:
    page = open_explorer(sample)
    pieces = samples.sample(*samples.SENTENCE, finished=sample != "cut")
    page.locator(".beside .plain").click()
    for unit, maps in (("pieces", pieces), ("words", pieces.merged_to_words())):
        setting(page, f".unit-{unit}")
        for kind in KINDS:
            choose(page, f".kind-{kind}")
            columns, rows, cells = read_table(page)
            assert columns == [shown(token) for token in maps.keys(kind).tokens]
            assert rows == [shown(token) for token in maps.queries(kind).tokens]
            assert np.abs(numbers(cells) - map_of(maps, kind)).max() <= 0.0005 + 1e-4


def test_words_merge_as_in_python_to_a_ten_thousandth(open_explorer: Open) -> None:
    page = open_explorer()
    words = samples.sample(*samples.SENTENCE).merged_to_words()
    setting(page, ".unit-words")
    for kind in KINDS:
        choose(page, f".kind-{kind}")
        values = page.locator(".explorer").evaluate("(root) => Array.from(root.explorer.shown().values)")
        scale_of = page.locator(".explorer").evaluate("(root) => root.explorer.shown().scale")
        found = np.array(values).reshape(words.weights(kind).shape) * scale_of
        assert np.abs(found - words.weights(kind)).max() <= 1e-4


def test_a_cell_under_the_pointer_tells_its_value_and_row_sum(open_explorer: Open) -> None:
    page = open_explorer()
    weights = map_of(samples.sample(*samples.SENTENCE), "cross")
    place = page.locator(".map").evaluate("(map) => ({ ...map.dataset })")
    left, top, cell = (int(place[name]) for name in ("left", "top", "cell"))
    page.locator(".map").hover(position={"x": left + 4.5 * cell, "y": top + 3.5 * cell})
    settle(page)
    readout = page.locator(".readout").inner_text()
    assert f"{weights[3, 4]:.3f}" in readout
    assert (
        "Generating the token Hund after uner" in readout and "attends to run" in readout and "row sum 1.000" in readout
    )
