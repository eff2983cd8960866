"""The explorer in a real browser: what it draws and says is what the maps say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

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
    patch,
    pixels,
    place_of,
    selected,
    setting,
    settle,
    shown,
)
from tests.browser.file_explorer import sample, show_next
from tests.browser.rest import rest, until
from transformer_core.attention_maps import KINDS
from viz_app.figures.colours.palette import MASK_HATCH, THEMES, scale
from viz_app.text import fill

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

Numbers = npt.NDArray[np.float64]


def test_it_opens_with_the_translation_one_large_head_and_all_tiles(explorer: Page) -> None:
    assert explorer.locator(".tile").count() == 48
    assert selected(explorer) == "4.6"
    assert explorer.locator(".tokens").all_text_contents() == list(MAPS.outputs.word_texts)
    assert "attention, not a translation" in explorer.locator(".words-note").inner_text()
    bottom = explorer.locator(".tiles").bounding_box()
    assert bottom is not None and bottom["y"] + bottom["height"] <= 720
    weights = map_of(MAPS, "cross")
    row = explorer.locator(".caption em").first.inner_text()
    query = [shown(token) for token in MAPS.outputs.tokens].index(row)
    key = int(weights[query].argmax())
    weight = f"{round(float(weights[query, key]) * 100)}\u202f%"
    expected = {"query": row, "key": shown(MAPS.source.tokens[key]), "head": "cross.4.6", "weight": weight}
    assert explorer.locator(".caption").inner_text() == fill(ENGLISH["caption_cross"], **expected)

    # A cell under the pointer tells its value and the sum of its row.
    place = place_of(explorer)
    left, top, cell = (place[name] for name in ("left", "top", "cell"))
    explorer.locator(".map").hover(position={"x": left + 4.5 * cell, "y": top + 3.5 * cell})
    settle(explorer)
    readout = explorer.locator(".readout").inner_text()
    assert f"{weights[3, 4]:.3f}" in readout and "row sum 1.000" in readout
    assert "Hund looks at run" in readout

    # Under each word stands the favourite source word of the last encoder-decoder head.
    words = MAPS.merged_to_words()

    def check_gloss(layer: int, head: int) -> None:
        favourites = words.cross[layer, head][:-1, :-1].argmax(axis=1)
        glosses = explorer.locator(".gloss").all_inner_texts()[:-1]
        assert glosses == [words.source.tokens[key] for key in favourites]

    check_gloss(LAYER, HEAD)
    choose(explorer, ".tile >> nth=10")  # head 2.3
    check_gloss(1, 2)
    choose(explorer, ".kind-encoder")
    choose(explorer, ".tile >> nth=0")
    check_gloss(1, 2)
    patch(explorer, kind="cross", layer=0, head=0)  # attends to nothing in particular
    assert explorer.locator(".gloss.weak").count()
    assert ENGLISH["weak_note"] in explorer.locator(".words-note").inner_text()


def test_cells_and_tiles_have_the_colors_of_their_weights_in_both_themes(explorer: Page) -> None:
    explorer.mouse.move(2, 2)
    for theme in THEMES:
        explorer.emulate_media(color_scheme=theme)  # drawn without new data
        for kind, tile in zip(KINDS, (29, 47, 12), strict=True):
            choose(explorer, f".kind-{kind}")
            choose(explorer, f".tile >> nth={tile}")
            weights = map_of(MAPS, kind, tile // 8, tile % 8)
            plain, expected = allowed(kind, weights.shape), colors(weights, theme)
            assert until(
                explorer,
                lambda p=plain, e=expected: bool((cell_colors(explorer, *p.shape)[p] == e[p]).all()),  # type: ignore[misc]
            ), f"{theme}, {kind}, tile {tile}"
    explorer.emulate_media(color_scheme="light")
    choose(explorer, ".kind-decoder")
    assert len(inside(explorer, 2, 0)) == 1, "an allowed cell is one plain colour"
    masked = inside(explorer, 0, 5)
    hatch = np.array([int(MASK_HATCH["light"][i : i + 2], 16) for i in (1, 3, 5)])
    assert len(masked) > 1 and min(np.abs(np.array(pixel) - hatch).max() for pixel in masked) < 24

    choose(explorer, ".kind-cross")
    weights = MAPS.cross[2, 4].astype(float)
    tones: dict[str, Callable[[Numbers], Numbers]] = {
        "linear": lambda w: w,
        "sqrt": np.sqrt,
        "row": lambda w: w / w.max(axis=1, keepdims=True),
    }
    for special in (True, False):
        text = weights if special else weights[:-1, :-1]  # </s> is the last of both axes
        for name, tone in tones.items():
            patch(explorer, scale=name, special=special, threshold=12)
            image = pixels(explorer, ".tile >> nth=20").astype(int)
            rows = ((np.arange(len(text)) + 0.5) * image.shape[0] / len(text)).astype(int)
            columns = ((np.arange(text.shape[1]) + 0.5) * image.shape[1] / text.shape[1]).astype(int)
            index = np.rint(np.where(text < 0.12, 0.0, tone(text)) * 255).astype(int)
            wrong = np.abs(image[np.ix_(rows, columns)] - scale("light")[index].astype(int)).max(axis=-1)
            assert wrong.max() <= 3, f"{name}: a rounding may take the neighbouring colour, no more"


def test_tokens_and_words_in_the_table_are_those_of_python(open_explorer: Open) -> None:
    page = open_explorer("cut")
    page.locator(".beside .tool.plain").click()
    for finished in (False, True):
        if finished:
            show_next(page, sample("sentence"))
            rest(page)
        tokens = samples.sample(*samples.SENTENCE, finished=finished)
        for unit, maps in (("tokens", tokens), ("words", tokens.merged_to_words())):
            setting(page, f".unit-{unit}")
            for kind in KINDS:
                choose(page, f".kind-{kind}")
                check_table(page, maps.keys(kind).tokens, maps.queries(kind).tokens, map_of(maps, kind))
