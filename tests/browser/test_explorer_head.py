"""The explorer in a real browser: tones, means, hidden tokens, lines, one token in all heads, candidates, the menu."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tests.browser.explorer_driver import (
    HEAD,
    LAYER,
    MAPS,
    announced,
    cell_colors,
    check_table,
    choose,
    map_of,
    pixels,
    place_of,
    press,
    read_table,
    setting,
    settle,
    shown,
    state,
)
from tests.browser.file_explorer import reported
from viz_app.figures.colours.palette import kind_color, scale

if TYPE_CHECKING:
    from playwright.sync_api import Page


Floats = npt.NDArray[np.float64]


def toned(weights: npt.NDArray[np.floating[Any]], how: str, percent: int = 0) -> npt.NDArray[np.int64]:
    """Index of the colour that each weight should have, 0 to 255."""
    exact = np.rint(weights.astype(np.float64) * 65535) / 65535
    if how == "sqrt":
        place = np.sqrt(exact)
    elif how == "row":
        place = exact / exact.max(axis=1, keepdims=True)
    else:
        place = exact
    index: npt.NDArray[np.int64] = np.where(exact < percent / 100, 0, np.floor(place * 255 + 0.5)).astype(np.int64)
    return index


def fill_threshold(page: Page, percent: int) -> None:
    page.locator(".menu-button").click()
    page.locator(".menu-range").first.fill(str(percent))
    page.keyboard.press("Escape")
    page.mouse.move(2, 2)
    settle(page)


def test_what_the_menu_sets_is_drawn_and_said(explorer: Page) -> None:
    weights = map_of(MAPS, "cross")
    setting(explorer, ".scale-sqrt")
    assert (cell_colors(explorer, *weights.shape) == scale("light")[toned(weights, "sqrt")]).all()
    places = explorer.locator(".beside .legend-numbers span").evaluate_all(
        "(all) => all.map((n) => [n.textContent, n.style.left])"
    )
    assert [(text, round(float(left[:-1]), 1)) for text, left in places] == [
        ("0", 0.0),
        ("0.1", 31.6),
        ("0.5", 70.7),
        ("1", 100.0),
    ]
    setting(explorer, ".scale-row")
    assert (cell_colors(explorer, *weights.shape) == scale("light")[toned(weights, "row")]).all()
    assert "largest weight shown in the row" in explorer.locator(".beside .legend").inner_text()
    fill_threshold(explorer, 20)
    expected = toned(weights, "row", 20)
    assert 0 < np.count_nonzero(expected) < np.count_nonzero(toned(weights, "row")), "the test must see a difference"
    assert (cell_colors(explorer, *weights.shape) == scale("light")[expected]).all()
    assert re.search(r"below 20\s%", explorer.locator(".beside .legend").inner_text())
    for name in ("scale", "threshold"):
        explorer.locator(f".chip-{name}").click()
    explorer.mouse.move(2, 2)
    settle(explorer)
    assert explorer.locator(".chip").count() == 0
    assert (cell_colors(explorer, *weights.shape) == scale("light")[toned(weights, "linear")]).all()

    # Hidden special tokens leave their mass in words.
    setting(explorer, ".menu-special input")
    text = weights[:-1, :-1].astype(np.float64)  # the last query and the last key are </s>
    assert (cell_colors(explorer, *text.shape) == scale("light")[toned(text, "linear")]).all()
    note = explorer.locator(".notes").inner_text()
    share = re.search(r"Hidden: </s>\. On average they receive (\d+)", note)
    assert share and abs(int(share[1]) - 100 * weights[:-1, -1].mean()) <= 0.51
    press(explorer, ".map", "ArrowDown")
    readout = explorer.locator(".readout").inner_text()
    assert f"row sum {text[0].sum():.3f} (hidden tokens {weights[0, -1]:.3f})" in readout
    explorer.locator(".beside .tool.plain").click()
    check_table(explorer, MAPS.source.tokens[:-1], MAPS.outputs.tokens[:-1], text)
    choose(explorer, ".kind-decoder")  # hides its first row and column; the mask moves along
    inputs = MAPS.inputs.tokens[1:]
    check_table(explorer, inputs, inputs, map_of(MAPS, "decoder")[1:, 1:])
    _, rows, cells = read_table(explorer)
    assert [row.count("–") for row in cells] == list(range(len(rows) - 1, -1, -1))
    choose(explorer, ".kind-cross")
    setting(explorer, ".menu-special input")

    # Means are those of numpy, and are marked.
    for average, layers, name in (
        ("layer", slice(LAYER, LAYER + 1), "mean of the 8 heads of layer 4"),
        ("all", slice(None), "mean of all 48 heads"),
    ):
        setting(explorer, f".average-{average}")
        expected = MAPS.cross[layers].astype(np.float64).mean(axis=(0, 1))
        check_table(explorer, MAPS.source.tokens, MAPS.outputs.tokens, expected)
        for place in (".caption", ".beside .legend"):
            assert name in explorer.locator(place).inner_text()
        assert name in (explorer.locator(".map").get_attribute("aria-label") or "")
        assert "the model itself never computes" in explorer.locator(".notes").inner_text()
    choose(explorer, ".tile >> nth=3")  # a head is opened: no mean any more
    assert explorer.locator(".chip").count() == 0 and "mean" not in explorer.locator(".caption").inner_text()


def strength(page: Page, query: int, key: int, theme_color: str) -> float:
    """How opaque the line between two tokens is, close to the right column, 0 to 1."""
    image = pixels(page, ".lines").astype(float)
    place = place_of(page, ".lines")
    along = 0.9
    x = round(place["left"] + along * (place["right"] - place["left"]))
    y = ((query + 0.5) * (1 - along) + (key + 0.5) * along) * place["step"]
    ink = np.array([int(theme_color[i : i + 2], 16) for i in (1, 3, 5)], float)
    paper = image[0, 0]
    shares = [
        (image[row, x] - paper) @ (ink - paper) / ((ink - paper) @ (ink - paper))
        for row in (int(y - 0.5), int(y + 0.5))
    ]
    return float(max(shares))


def test_lines_lie_between_their_tokens_are_as_strong_as_their_weights_and_pinned(explorer: Page) -> None:
    choose(explorer, ".form-lines")
    weights = map_of(MAPS, "cross")
    place = place_of(explorer, ".lines")
    lines = explorer.locator(".lines")
    lines.hover(position={"x": place["left"] - 20, "y": 3.5 * place["step"]})
    settle(explorer)
    assert state(explorer, "cursor") == {"query": 3, "key": None}
    for key, tone in enumerate(toned(weights, "linear")[3]):
        result = strength(explorer, 3, key, kind_color("cross", "light"))
        assert result < 0.06 if tone < 4 else abs(result - tone / 255) < 0.12, (key, result, tone / 255)
    lines.hover(position={"x": place["right"] + 20, "y": 2.5 * place["step"]})
    settle(explorer)
    assert state(explorer, "cursor") == {"query": None, "key": 2}
    lines.hover(position={"x": (place["left"] + place["right"]) / 2, "y": 2.5 * place["step"]})
    settle(explorer)
    assert state(explorer, "cursor") is None
    choose(explorer, ".kind-decoder")
    place = place_of(explorer, ".lines")
    lines.hover(position={"x": place["left"] - 20, "y": 0.5 * place["step"]})
    settle(explorer)
    assert abs(strength(explorer, 0, 0, kind_color("decoder", "light")) - 1) < 0.12, "the first row has one key only"
    assert all(strength(explorer, 0, key, kind_color("decoder", "light")) < 0.06 for key in range(1, 10)), "masked"
    explorer.mouse.move(2, 2)
    settle(explorer)
    press(explorer, ".lines", "ArrowDown", "ArrowDown")
    decoder = map_of(MAPS, "decoder")[1]
    key = int(decoder.argmax())
    line = f"head decoder.4.6, 'Ein' to '{shown(MAPS.inputs.tokens[key])}', {decoder[key]:.2f}"
    assert announced(explorer) == line

    # A pin survives heads and steps, and Python knows it.
    choose(explorer, ".kind-cross")
    place = place_of(explorer, ".lines")
    explorer.locator(".lines").click(position={"x": place["left"] - 20, "y": 3.5 * place["step"]})
    explorer.get_by_text('"pin": "q3"').wait_for()
    assert reported(explorer)["form"] == "lines"
    choose(explorer, ".tile >> nth=9")
    explorer.locator(".slider").fill("6")
    settle(explorer)
    assert state(explorer, "pin") == "q3"
    explorer.mouse.move(2, 2)
    settle(explorer)
    weights = map_of(MAPS, "cross", 1, 1)
    best = int(weights[3].argmax())
    expected = toned(weights, "linear")[3, best] / 255
    assert abs(strength(explorer, 3, best, kind_color("cross", "light")) - expected) < 0.12
    choose(explorer, ".form-map")
    assert "Hund" in explorer.locator(".caption").inner_text(), "without a pointer the caption tells what is pinned"
    place = place_of(explorer)
    explorer.locator(".map").click(position={"x": place["left"] + 2.5 * place["cell"], "y": place["top"] - 8})
    explorer.get_by_text('"pin": "k2"').wait_for()
    press(explorer, ".map", "Escape")
    explorer.get_by_text('"pin": null').wait_for()


def test_one_token_in_all_heads(explorer: Page) -> None:
    written = [shown(token) for token in MAPS.outputs.tokens]
    explorer.locator(".beside .tool.plain").click()
    choose(explorer, ".zoom-token")
    query = written.index(explorer.locator(".caption em").first.inner_text())
    explorer.get_by_text(f'"pin": "q{query}"').wait_for()
    assert explorer.locator(".strip-token").all_inner_texts() == written
    press(explorer, ".strip-token[aria-pressed=true]", "ArrowRight")
    query += 1
    assert explorer.locator(".strip-token[aria-pressed=true]").inner_text() == written[query]
    weights = MAPS.cross[:, :, query].reshape(48, -1)
    heads = [f"{layer}.{head}" for layer in range(1, 7) for head in range(1, 9)]
    check_table(explorer, MAPS.source.tokens, heads, weights)
    place = place_of(explorer)
    left, top, cell, row = (int(place[name]) for name in ("left", "top", "cell", "row"))
    image = pixels(explorer)
    seen = [index for index in range(48) if top + (index + 1) * row < image.shape[0] and index != LAYER * 8 + HEAD]
    for key in range(weights.shape[1]):
        result = image[[top + index * row + row // 2 for index in seen], left + key * cell + cell // 2]
        assert (result == scale("light")[toned(weights[seen], "linear")[:, key]]).all()
    choose(explorer, ".side-k")
    key = int(state(explorer, "pin")[1:])
    check_table(explorer, written, heads, MAPS.cross[:, :, :, key].reshape(48, -1))
    place = place_of(explorer)
    y = place["top"] + 10.5 * place["row"] - place["scroll"]
    explorer.locator(".map").click(position={"x": place["left"] - 20, "y": y})  # head 2.3
    settle(explorer)
    assert explorer.locator(".zoom-head").get_attribute("aria-pressed") == "true"
    assert "head cross.2.3" in str(explorer.locator(".tile[aria-selected=true]").get_attribute("aria-label"))
