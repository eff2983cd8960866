"""The explorer in a real browser: tones, means, hidden tokens, lines, one token in all heads, candidates, the menu."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from tests.browser import explorer_samples as samples
from tests.browser.explorer_driver import (
    HEAD,
    LAYER,
    Open,
    cell_colors,
    choose,
    map_of,
    numbers,
    read_table,
    reported,
    setting,
    settle,
    shown,
)
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


def state(page: Page, name: str) -> Any:
    return page.locator(".explorer").evaluate("(root, name) => root.explorer.store.state[name]", name)


def fill_threshold(page: Page, percent: int) -> None:
    page.locator(".menu-button").click()
    page.locator(".menu-range").fill(str(percent))
    page.keyboard.press("Escape")
    page.mouse.move(2, 2)
    settle(page)


def test_colors_follow_scale_and_threshold_and_the_legend_says_so(open_explorer: Open) -> None:
    page = open_explorer()
    weights = map_of(samples.sample(*samples.SENTENCE), "cross")
    setting(page, ".scale-sqrt")
    assert (cell_colors(page, *weights.shape) == scale("light")[toned(weights, "sqrt")]).all()
    places = page.locator(".beside .legend-numbers span").evaluate_all(
        "(all) => all.map((n) => [n.textContent, n.style.left])"
    )
    assert [(text, round(float(left[:-1]), 1)) for text, left in places] == [
        ("0", 0.0),
        ("0.1", 31.6),
        ("0.5", 70.7),
        ("1", 100.0),
    ]
    setting(page, ".scale-row")
    assert (cell_colors(page, *weights.shape) == scale("light")[toned(weights, "row")]).all()
    assert "largest weight shown in the row" in page.locator(".beside .legend").inner_text()
    fill_threshold(page, 20)
    expected = toned(weights, "row", 20)
    assert 0 < np.count_nonzero(expected) < np.count_nonzero(toned(weights, "row")), "the test must see a difference"
    assert (cell_colors(page, *weights.shape) == scale("light")[expected]).all()
    assert re.search(r"below 20\s%", page.locator(".beside .legend").inner_text())
    for name in ("scale", "threshold"):
        page.locator(f".chip-{name}").click()
    page.mouse.move(2, 2)
    settle(page)
    assert page.locator(".chip").count() == 0
    assert (cell_colors(page, *weights.shape) == scale("light")[toned(weights, "linear")]).all()


def test_hidden_special_tokens_leave_their_mass_in_words(open_explorer: Open) -> None:
    page = open_explorer()
    maps = samples.sample(*samples.SENTENCE)
    setting(page, ".menu-special input")
    weights = map_of(maps, "cross").astype(np.float64)
    text = weights[:-1, :-1]  # the last query and the last key are </s>
    assert (cell_colors(page, *text.shape) == scale("light")[toned(text, "linear")]).all()
    note = page.locator(".notes").inner_text()
    share = re.search(r"Hidden: </s>\. On average they receive (\d+)", note)
    assert share and abs(int(share[1]) - 100 * weights[:-1, -1].mean()) <= 0.51
    page.locator(".map").focus()
    page.keyboard.press("ArrowDown")
    settle(page)
    readout = page.locator(".readout").inner_text()
    assert f"row sum {text[0].sum():.3f} (hidden tokens {weights[0, -1]:.3f})" in readout
    page.locator(".beside .plain").click()
    columns, rows, cells = read_table(page)
    assert columns == [shown(token) for token in maps.source.tokens[:-1]]
    assert rows == [shown(token) for token in maps.outputs.tokens[:-1]]
    assert np.abs(numbers(cells) - text).max() <= 0.0005 + 1e-4
    choose(page, ".kind-decoder")  # hides its first row and column; the mask moves along
    _, rows, cells = read_table(page)
    decoder = map_of(maps, "decoder")[1:, 1:]
    assert rows[0] == shown(maps.inputs.tokens[1])
    assert np.abs(numbers(cells) - decoder).max() <= 0.0005 + 1e-4
    assert [row.count("–") for row in cells] == list(range(len(rows) - 1, -1, -1))


def test_means_are_those_of_numpy_and_are_marked(open_explorer: Open) -> None:
    page = open_explorer()
    maps = samples.sample(*samples.SENTENCE)
    page.locator(".beside .plain").click()
    for average, layers, name in (
        ("layer", slice(LAYER, LAYER + 1), "mean of the 8 heads of layer 4"),
        ("all", slice(None), "mean of all 48 heads"),
    ):
        setting(page, f".average-{average}")
        expected = maps.cross[layers].astype(np.float64).mean(axis=(0, 1))
        _, _, cells = read_table(page)
        assert np.abs(numbers(cells) - expected).max() <= 0.0005 + 1e-4
        for place in (".caption", ".beside .legend"):
            assert name in page.locator(place).inner_text()
        assert name in (page.locator(".map").get_attribute("aria-label") or "")
        assert "the model itself never computes" in page.locator(".notes").inner_text()
    choose(page, ".tile >> nth=3")  # a head is opened: no mean any more
    assert page.locator(".chip").count() == 0 and "mean" not in page.locator(".caption").inner_text()


def lines_place(page: Page) -> dict[str, float]:
    place = page.locator(".lines").evaluate("(lines) => ({ ...lines.dataset, scroll: lines.scrollTop })")
    return {name: float(value) for name, value in place.items()}


def strength(page: Page, query: int, key: int, theme_color: str) -> float:
    """How opaque the line between two tokens is, close to the right column, 0 to 1."""
    png = page.locator(".lines canvas").evaluate("(canvas) => canvas.toDataURL('image/png').split(',')[1]")
    image = np.asarray(Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB")).astype(float)
    place = lines_place(page)
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


def test_lines_lie_between_their_tokens_and_are_as_strong_as_their_weights(open_explorer: Open) -> None:
    page = open_explorer()
    maps = samples.sample(*samples.SENTENCE)
    choose(page, ".form-lines")
    weights = map_of(maps, "cross")
    place = lines_place(page)
    lines = page.locator(".lines")
    lines.hover(position={"x": place["left"] - 20, "y": 3.5 * place["step"]})
    settle(page)
    assert state(page, "cursor") == {"query": 3, "key": None}
    for key, tone in enumerate(toned(weights, "linear")[3]):
        found = strength(page, 3, key, kind_color("cross", "light"))
        assert found < 0.06 if tone < 4 else abs(found - tone / 255) < 0.12, (key, found, tone / 255)
    lines.hover(position={"x": place["right"] + 20, "y": 2.5 * place["step"]})
    settle(page)
    assert state(page, "cursor") == {"query": None, "key": 2}
    lines.hover(position={"x": (place["left"] + place["right"]) / 2, "y": 2.5 * place["step"]})
    settle(page)
    assert state(page, "cursor") is None
    choose(page, ".kind-decoder")
    place = lines_place(page)
    lines.hover(position={"x": place["left"] - 20, "y": 0.5 * place["step"]})
    settle(page)
    assert abs(strength(page, 0, 0, kind_color("decoder", "light")) - 1) < 0.12, "the first row has one key only"
    assert all(strength(page, 0, key, kind_color("decoder", "light")) < 0.06 for key in range(1, 10)), "masked"
    page.mouse.move(2, 2)
    settle(page)
    lines.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    settle(page)
    decoder = map_of(maps, "decoder")[1]
    key = int(decoder.argmax())
    line = f"head 4.6, 'Ein' to '{shown(maps.inputs.tokens[key])}', {decoder[key]:.2f}"
    assert page.locator("figure.head > [aria-live]").inner_text() == line


def test_a_pin_survives_heads_and_steps_and_python_knows_it(open_explorer: Open) -> None:
    page = open_explorer()
    choose(page, ".form-lines")
    place = lines_place(page)
    page.locator(".lines").click(position={"x": place["left"] - 20, "y": 3.5 * place["step"]})
    page.get_by_text('"pin": "q3"').wait_for()
    assert reported(page)["form"] == "lines"
    choose(page, ".tile >> nth=9")
    page.locator(".slider").fill("6")
    settle(page)
    assert state(page, "pin") == "q3"
    page.mouse.move(2, 2)
    settle(page)
    weights = map_of(samples.sample(*samples.SENTENCE), "cross", 1, 1)
    best = int(weights[3].argmax())
    expected = toned(weights, "linear")[3, best] / 255
    assert abs(strength(page, 3, best, kind_color("cross", "light")) - expected) < 0.12
    choose(page, ".form-map")
    assert "Hund" in page.locator(".readout").inner_text(), "without a pointer the readout tells what is pinned"
    place_of_map = page.locator(".map").evaluate("(map) => ({ ...map.dataset })")
    left, top, cell = (int(place_of_map[name]) for name in ("left", "top", "cell"))
    page.locator(".map").click(position={"x": left + 2.5 * cell, "y": top - 8})
    page.get_by_text('"pin": "k2"').wait_for()
    page.locator(".map").focus()
    page.keyboard.press("Escape")
    page.get_by_text('"pin": null').wait_for()


def test_one_token_in_all_heads(open_explorer: Open) -> None:
    page = open_explorer()
    maps = samples.sample(*samples.SENTENCE)
    written = [shown(token) for token in maps.outputs.tokens]
    page.locator(".beside .plain").click()
    choose(page, ".zoom-token")
    query = written.index(page.locator(".caption em").first.inner_text())
    page.get_by_text(f'"pin": "q{query}"').wait_for()
    assert page.locator(".strip-token").all_inner_texts() == written
    page.locator(".strip-token[aria-pressed=true]").focus()
    page.keyboard.press("ArrowRight")
    settle(page)
    query += 1
    assert page.locator(".strip-token[aria-pressed=true]").inner_text() == written[query]
    weights = maps.cross[:, :, query].reshape(48, -1)
    columns, rows, cells = read_table(page)
    assert columns == [shown(token) for token in maps.source.tokens]
    assert rows == [f"{layer}.{head}" for layer in range(1, 7) for head in range(1, 9)]
    assert np.abs(numbers(cells) - weights).max() <= 0.0005 + 1e-4
    place = page.locator(".map").evaluate("(map) => ({ ...map.dataset })")
    left, top, cell, row = (int(place[name]) for name in ("left", "top", "cell", "row"))
    png = page.locator(".map canvas").evaluate("(canvas) => canvas.toDataURL('image/png').split(',')[1]")
    image = np.asarray(Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB"))
    seen = [index for index in range(48) if top + (index + 1) * row < image.shape[0] and index != LAYER * 8 + HEAD]
    for key in range(weights.shape[1]):
        found = image[[top + index * row + row // 2 for index in seen], left + key * cell + cell // 2]
        assert (found == scale("light")[toned(weights[seen], "linear")[:, key]]).all()
    choose(page, ".side-k")
    key = int(state(page, "pin")[1:])
    _, _, cells = read_table(page)
    assert np.abs(numbers(cells) - maps.cross[:, :, :, key].reshape(48, -1)).max() <= 0.0005 + 1e-4
    page.locator(".map").click(position={"x": left - 20, "y": top + 10.5 * row})  # head 2.3
    settle(page)
    assert page.locator(".zoom-head").get_attribute("aria-pressed") == "true"
    assert "head 2.3" in str(page.locator(".tile[aria-selected=true]").get_attribute("aria-label"))


def test_the_time_bar_shows_candidates_and_answers_to_keys_everywhere(open_explorer: Open) -> None:
    page = open_explorer()
    steps = samples.confidences(samples.sample(*samples.SENTENCE))
    assert not page.locator(".candidates").is_visible()
    page.locator(".zoom-head").focus()
    page.keyboard.press("Home")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    settle(page)
    assert page.locator(".step-text").inner_text() == "Token 4 of 10"
    expected = {"Hund": steps[3].probability, **{shown(piece): share for piece, share in steps[3].alternatives}}
    listed = dict(
        zip(
            page.locator(".candidate bdi").all_inner_texts(),
            (int(re.sub(r"\D", "", text)) for text in page.locator(".candidate .number").all_inner_texts()),
            strict=True,
        )
    )
    assert listed.keys() == expected.keys()
    assert all(abs(listed[piece] - 100 * share) <= 0.51 for piece, share in expected.items())
    assert page.locator(".candidate.chosen bdi").inner_text() == "Hund"
    page.keyboard.press("End")
    settle(page)
    assert page.locator(".candidate.chosen bdi").inner_text() == "</s>"
    assert state(page, "step") is None


def test_a_row_that_is_masked_everywhere_looks_nowhere(open_explorer: Open) -> None:
    page = open_explorer("blind")
    choose(page, ".kind-encoder")
    page.locator(".map").focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    settle(page)
    assert "attends to nothing" in page.locator(".readout").inner_text()
    assert "attends to nothing" in page.locator("figure.head > [aria-live]").inner_text()
    place = page.locator(".map").evaluate("(map) => ({ ...map.dataset })")
    left, top, cell = (int(place[name]) for name in ("left", "top", "cell"))
    png = page.locator(".map canvas").evaluate("(canvas) => canvas.toDataURL('image/png').split(',')[1]")
    image = np.asarray(Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB"))
    inner = image[top + 2 * cell + 3 : top + 3 * cell - 3, left + 4 * cell + 3 : left + 5 * cell - 3]
    assert len({tuple(pixel) for pixel in inner.reshape(-1, 3).tolist()}) > 1, "hatched"
    page.locator(".beside .plain").click()
    _, _, cells = read_table(page)
    assert set(cells[2]) == {"–"} and "–" not in cells[1]


@pytest.mark.parametrize("language", [pytest.param("en", marks=pytest.mark.slow), "ko"])
def test_controls_stand_in_one_line_and_the_menu_closes(
    open_explorer: Open, check_accessibility: Callable[[Page], None], language: str
) -> None:
    page = open_explorer(language=language)
    parts = [page.locator(f".controls > {name}").bounding_box() for name in (".zoom", ".kind", ".player", ".menu")]
    middles = [part["y"] + part["height"] / 2 for part in parts if part]
    assert len(middles) == 4 and max(middles) - min(middles) < 4
    button = page.locator(".menu-button")
    button.click()
    page.locator(".menu-panel .scale-sqrt").click()
    settle(page)
    check_accessibility(page)
    page.keyboard.press("Escape")
    assert button.get_attribute("aria-expanded") == "false"
    button.click()
    page.mouse.click(600, 600)
    assert not page.locator(".menu-panel").is_visible()
    choose(page, ".form-lines")
    choose(page, ".zoom-token")
    check_accessibility(page)
    assert page.locator(".chip").count() == 1


def test_a_long_sentence_as_lines_scrolls_inside(open_explorer: Open) -> None:
    page = open_explorer("128", width=390, height=844)
    choose(page, ".form-lines")
    # The quickest of several: how long the drawing takes, not how busy the machine is.
    spent = page.locator(".explorer").evaluate(
        """(root) => Math.min(...Array.from({ length: 5 }, (_, i) => {
          const lines = root.explorer.figure.lines;
          lines.element.scrollTop = (i + 1) * 300;
          const start = performance.now();
          lines.draw();
          return performance.now() - start;
        }))"""
    )
    assert spent < 50, f"{spent:.0f} ms for one picture of lines"
    settle(page)
    canvas = page.locator(".lines canvas").bounding_box()
    assert canvas and canvas["height"] <= 844, "only what is in sight is drawn"
    place = lines_place(page)
    page.locator(".lines").hover(position={"x": place["left"] - 10, "y": 30})
    settle(page)
    assert state(page, "cursor")["query"] == int((place["scroll"] + 30) // place["step"])
    choose(page, ".zoom-token")
    assert page.locator(".strip-token").count() <= 41
    width = page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert width <= 0
