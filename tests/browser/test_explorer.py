"""The explorer in a real browser: what it draws is what the maps say, and everybody can work it."""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from tests.browser import explorer_samples as samples
from transformer_core.attention_maps import KINDS, WORD_BOUNDARY, AttentionMaps, Kind
from viz_app.figures.colour import MASK_HATCH, THEMES, Theme, scale
from viz_app.text import fill, texts

if TYPE_CHECKING:
    from playwright.sync_api import Dialog, Locator, Page

PAGE = Path(__file__).with_name("explorer_page.py")
ENGLISH = texts("en").table("explorer")
LAYER, HEAD = 3, 5  # where the page starts

Open = Callable[..., "Page"]


@pytest.fixture
def open_explorer(serve: Callable[[Path], str], open_page: Open) -> Open:
    """Open the bare page: `open_explorer("other", language="ko", width=390)`."""

    def start(sample: str = "sentence", *, language: str = "en", **options: Any) -> Page:
        page = open_page(f"{serve(PAGE)}/?sample={sample}&language={language}", **options)
        page.locator(".explorer .tile").first.wait_for()
        settle(page)
        return page

    return start


def settle(page: Page) -> None:
    """Wait for two frames, so that everything that a click changed is drawn."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def choose(page: Page, selector: str) -> None:
    page.locator(selector).click()
    page.mouse.move(2, 2)
    settle(page)


def map_of(maps: AttentionMaps, kind: Kind, layer: int = LAYER, head: int = HEAD) -> npt.NDArray[np.float32]:
    weights: npt.NDArray[np.float32] = maps.weights(kind)[layer, head]
    return weights


def pixels(page: Page) -> tuple[npt.NDArray[np.uint8], dict[str, int]]:
    """The large map's canvas as (height, width, 3) and where its cells lie."""
    answer = page.locator(".map").evaluate(
        """(map) => {
          const [, png] = map.querySelector("canvas").toDataURL("image/png").split(",");
          return { png, place: { ...map.dataset } };
        }"""
    )
    image = np.asarray(Image.open(io.BytesIO(base64.b64decode(answer["png"]))).convert("RGB"))
    return image, {name: int(value) for name, value in answer["place"].items()}


def cell_colours(page: Page, queries: int, keys: int) -> npt.NDArray[np.uint8]:
    """(queries, keys, 3): the colour at the centre of each cell."""
    image, place = pixels(page)
    rows = place["top"] + place["cell"] * np.arange(queries) + place["cell"] // 2
    columns = place["left"] + place["cell"] * np.arange(keys) + place["cell"] // 2
    return image[np.ix_(rows, columns)]


def colours(weights: npt.NDArray[np.float32], theme: Theme) -> npt.NDArray[np.uint8]:
    """The colours that these weights should have, after their way through uint16."""
    quantised = np.rint(weights.astype(np.float64) * 65535)
    found: npt.NDArray[np.uint8] = scale(theme)[np.floor(quantised / 65535 * 255 + 0.5).astype(int)]
    return found


def read_table(page: Page) -> tuple[list[str], list[str], list[list[str]]]:
    """Column heads, row heads and cells of the open table."""
    answer: list[Any] = page.locator(".table table").evaluate(
        """(table) => {
          const texts = (nodes) => Array.from(nodes, (node) => node.textContent);
          const rows = Array.from(table.tBodies[0].rows);
          return [texts(table.tHead.rows[0].cells).slice(1), rows.map((row) => row.cells[0].textContent),
                  rows.map((row) => texts(row.cells).slice(1))];
        }"""
    )
    return answer[0], answer[1], answer[2]


def numbers(cells: list[list[str]]) -> npt.NDArray[np.float64]:
    """Cells as numbers; a masked cell counts as 0."""
    return np.array([[0.0 if cell == "–" else float(cell) for cell in row] for row in cells])


def shown(token: str) -> str:
    return token.replace(WORD_BOUNDARY, "")


def reported(page: Page) -> dict[str, Any]:
    """The selection as Python knows it."""
    answer: dict[str, Any] = json.loads(page.locator("[data-testid=stMarkdown] p", has_text="kind").inner_text())
    return answer


def test_it_opens_with_the_translation_one_large_head_and_all_tiles(open_explorer: Open) -> None:
    page = open_explorer()
    maps = samples.sample(*samples.SENTENCE)
    assert page.locator(".tile").count() == 48
    assert page.locator(".tile[aria-selected=true]").get_attribute("aria-label") == "Head 4.6"
    assert page.locator(".pieces").all_text_contents() == list(maps.outputs.word_texts)
    assert re.fullmatch(r"Writing \S+, head 4\.6 looked \d+\s% at \S+\.", page.locator(".caption").inner_text())
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


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_each_cell_has_the_colour_of_its_weight(open_explorer: Open, theme: Theme) -> None:
    page = open_explorer(dark=theme == "dark")
    page.mouse.move(2, 2)
    maps = samples.sample(*samples.SENTENCE)
    for kind, tile in zip(KINDS, (29, 47, 12), strict=True):
        choose(page, f".kind-{kind}")
        choose(page, f".tile >> nth={tile}")
        weights = map_of(maps, kind, tile // 8, tile % 8)
        found = cell_colours(page, *weights.shape)
        allowed = np.tril(np.ones(weights.shape, bool)) if kind == "decoder" else np.ones(weights.shape, bool)
        assert (found[allowed] == colours(weights, theme)[allowed]).all(), f"{kind}, tile {tile}"


def test_a_change_of_theme_is_drawn_without_new_data(open_explorer: Open) -> None:
    page = open_explorer()
    page.mouse.move(2, 2)
    weights = map_of(samples.sample(*samples.SENTENCE), "cross")
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        page.wait_for_timeout(600)
        assert (cell_colours(page, *weights.shape) == colours(weights, theme)).all(), theme


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
        choose(page, f".unit-{unit}")
        for kind in KINDS:
            choose(page, f".kind-{kind}")
            columns, rows, cells = read_table(page)
            assert columns == [shown(token) for token in maps.keys(kind).tokens]
            assert rows == [shown(token) for token in maps.queries(kind).tokens]
            assert np.abs(numbers(cells) - map_of(maps, kind)).max() <= 0.0005 + 1e-4


def test_words_merge_as_in_python_to_a_ten_thousandth(open_explorer: Open) -> None:
    page = open_explorer()
    words = samples.sample(*samples.SENTENCE).merged_to_words()
    choose(page, ".unit-words")
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
    assert "Writing the piece Hund after uner" in readout and "looks at run" in readout and "row sum 1.000" in readout


def test_a_tile_opens_its_head_at_once_and_python_hears_of_it(open_explorer: Open) -> None:
    page = open_explorer()
    before = page.locator(".caption").inner_text()
    spent = (
        page.locator(".tile")
        .nth(20)
        .evaluate(
            """async (tile) => {
          const start = performance.now();
          tile.click();
          await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
          return performance.now() - start;
        }"""
        )
    )
    assert page.locator(".caption").inner_text() != before and "head 3.5" in page.locator(".caption").inner_text()
    assert spent < 280, "drawn before Python is even told (300 ms)"
    page.get_by_text('"layer": 2').wait_for()
    assert reported(page) == {"kind": "cross", "layer": 2, "head": 4, "step": None, "unit": "pieces", "view": "heads"}


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_a_new_translation_keeps_the_place_and_the_selection(
    open_explorer: Open, motion: Literal["no-preference", "reduce"]
) -> None:
    page = open_explorer()
    page.emulate_media(reduced_motion=motion)
    choose(page, ".kind-decoder")
    choose(page, ".tile >> nth=9")
    page.locator(".slider").fill("9")
    page.get_by_text('"step": 9').wait_for()
    page.locator(".explorer").evaluate("(root) => { root.same = true; }")
    page.get_by_text("other sentence").click()
    page.get_by_text("vergessen").wait_for()
    settle(page)
    assert page.locator(".explorer").evaluate("(root) => root.same") is True
    assert page.locator(".tile[aria-selected=true]").get_attribute("aria-label") == "Head 2.2"
    assert page.locator(".kind-decoder").get_attribute("aria-pressed") == "true"
    assert page.locator(".slider").input_value() == "9"
    if motion == "no-preference":
        page.wait_for_timeout(400)  # the tiles fade over
    tile = page.locator(".tile canvas").nth(9).evaluate("(canvas) => canvas.toDataURL()")
    page.set_viewport_size({"width": 1281, "height": 720})
    settle(page)  # draws everything again
    assert page.locator(".tile canvas").nth(9).evaluate("(canvas) => canvas.toDataURL()") == tile
    maps = samples.sample(*samples.OTHER)
    weights = map_of(maps, "decoder", 1, 1)[:9, :9]
    allowed = np.tril(np.ones(weights.shape, bool))
    allowed[8] = False  # the newest row is outlined
    assert (cell_colours(page, 9, 9)[allowed] == colours(weights, "light")[allowed]).all()


def test_a_step_that_a_shorter_translation_lacks_becomes_its_end(open_explorer: Open) -> None:
    page = open_explorer("20")
    page.locator(".slider").fill("18")
    page.get_by_text('"step": 18').wait_for()
    page.get_by_text("other sentence").click()
    page.get_by_text("vergessen").wait_for()
    settle(page)
    assert page.locator(".step-text").inner_text() == "Piece 13 of 13"
    assert page.locator(".piece.unwritten").count() == 0
    page.get_by_text('"step": null').wait_for()


def test_after_a_visit_elsewhere_the_selection_is_still_there(open_explorer: Open) -> None:
    page = open_explorer()
    choose(page, ".kind-encoder")
    choose(page, ".tile >> nth=9")
    page.get_by_text('"layer": 1').wait_for()
    page.get_by_text("away").click()
    page.locator(".explorer").wait_for(state="detached")
    page.get_by_text("away").click()
    page.locator(".tile").first.wait_for()
    settle(page)
    assert page.locator(".tile[aria-selected=true]").get_attribute("aria-label") == "Head 2.2"
    assert page.locator(".kind-encoder").get_attribute("aria-pressed") == "true"
    assert reported(page)["head"] == 1


def test_at_a_step_only_what_is_written_is_shown(open_explorer: Open) -> None:
    page = open_explorer()
    maps = samples.sample(*samples.SENTENCE)
    slider = page.locator(".slider")
    slider.focus()
    page.keyboard.press("Home")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    settle(page)
    assert page.locator(".step-text").inner_text() == "Piece 4 of 10"
    written = page.locator(".piece:not(.unwritten)").all_inner_texts()
    assert written == [shown(token) for token in maps.outputs.tokens[:4]]
    found = cell_colours(page, len(maps.outputs), len(maps.source))
    weights = map_of(maps, "cross")
    assert (found[:3] == colours(weights[:3], "light")).all()
    assert (found[4:] == 255).all(), "rows that are not written yet are empty"
    assert "Writing Hund" in page.locator(".caption").inner_text()
    choose(page, ".kind-encoder")
    assert (cell_colours(page, 11, 11) == colours(map_of(maps, "encoder"), "light")).all()
    assert page.get_by_text("The encoder reads the whole sentence").is_visible()
    page.locator(".slider").focus()
    page.keyboard.press("End")
    settle(page)
    assert page.locator(".piece.unwritten").count() == 0


def test_space_plays_and_pauses_the_decoding(open_explorer: Open) -> None:
    page = open_explorer()
    page.locator(".map").focus()
    page.keyboard.press("Space")
    page.get_by_text("Piece 3 of 10").wait_for()
    page.keyboard.press("Space")
    stopped = page.locator(".step-text").inner_text()
    page.wait_for_timeout(900)
    assert page.locator(".step-text").inner_text() == stopped
    assert page.locator(".play").get_attribute("aria-label") == ENGLISH["play"]


def test_the_keyboard_reaches_every_cell_and_every_head(open_explorer: Open) -> None:
    page = open_explorer()
    weights = map_of(samples.sample(*samples.SENTENCE), "cross")
    page.locator(".map").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    settle(page)
    live = page.locator("[aria-live]")
    assert live.inner_text() == f"head 4.6, 'bra' to 'dog', {weights[1, 2]:.2f}"
    page.locator(".tile[tabindex='0']").focus()
    for key in ("ArrowUp", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    settle(page)
    assert page.locator(".tile[aria-selected=true]").get_attribute("aria-label") == "Head 3.7"
    assert page.locator(".tile[tabindex='0']").count() == 1


def test_one_layer_side_by_side_with_the_value_of_the_cell_in_each_head(open_explorer: Open) -> None:
    page = open_explorer()
    maps = samples.sample(*samples.SENTENCE)
    choose(page, ".view-layer")
    choose(page, ".layer .choice-button >> nth=1")
    assert page.locator(".tile-name").all_inner_texts() == [f"2.{head}" for head in range(1, 9)]
    page.locator(".map").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    settle(page)
    expected = [f"{maps.cross[1, head, 0, 1]:.3f}" for head in range(8)]
    assert page.locator(".tile-value").all_inner_texts() == expected
    assert page.locator(".tile[aria-selected=true]").get_attribute("aria-label") == "Head 2.6"


def test_a_piece_shows_how_sure_the_model_was_and_what_came_next(open_explorer: Open) -> None:
    page = open_explorer()
    steps = samples.confidences(samples.sample(*samples.SENTENCE))
    for action in ("hover", "focus"):
        getattr(page.locator(".piece").nth(3), action)()
        settle(page)
        popover = page.locator(".popover")
        assert popover.locator("bdi").all_inner_texts() == ["Hund", "der", "<i>eine</i>", "lich"]
        expected = [steps[3].probability, *(share for _, share in steps[3].alternatives)]
        shares = [int(re.sub(r"\D", "", text)) for text in popover.locator(".number").all_inner_texts()]
        assert np.abs(np.array(shares) - 100 * np.array(expected)).max() <= 0.51
        page.mouse.move(2, 2)
        page.keyboard.press("Escape")
        page.locator(".slider").focus()
        settle(page)
        assert not popover.is_visible()
    unsure = page.locator(".piece").evaluate_all("(all) => all.map((one) => one.classList.contains('unsure'))")
    assert unsure == [step.probability < 0.5 for step in steps]


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
    assert page.locator("[aria-live]").inner_text() == f"head 4.6, '</s>' to '</s>', {weight:.2f}"
    page.keyboard.press("Escape")
    settle(page)
    image, place = pixels(page)
    last = image[-2 - place["cell"] // 2, :]
    scrolled = page.locator(".map").evaluate("(map) => map.scrollLeft")
    for key in (120, 125, 127):
        x = int(place["left"] + (key + 0.5) * place["cell"] - scrolled)
        assert (last[x] == colours(map_of(maps, "cross")[127], "light")[key]).all()
    paint = page.evaluate("() => performance.getEntriesByName('explorer tiles').at(-1).duration")
    assert paint < 250, "48 tiles of 128 by 128 (20 ms are the aim on an idle machine)"
    assert sideways(page) <= 0


def sideways(page: Page) -> int:
    """How far the page scrolls sideways."""
    answer: int = page.evaluate(
        """() => Math.max(...[document.documentElement, document.querySelector("[data-testid=stMain]")]
          .map((node) => node.scrollWidth - node.clientWidth))"""
    )
    return answer


@pytest.mark.parametrize("sample", ["sentence", "hostile", "128"])
def test_a_telephone_needs_no_sideways_scrolling(open_explorer: Open, sample: str) -> None:
    page = open_explorer(sample, width=390, height=844)
    for kind in KINDS:
        choose(page, f".kind-{kind}")
        assert sideways(page) <= 0
    choose(page, ".view-layer")
    assert sideways(page) <= 0


@pytest.mark.parametrize(("language", "dark", "width"), [("en", False, 1280), ("ko", True, 1280), ("ko", False, 390)])
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
    page.set_viewport_size({"width": 700, "height": 600})
    page.wait_for_timeout(200)
    narrow = page.locator(".map").bounding_box()
    assert wide and narrow and narrow["width"] <= 700 and narrow["width"] != wide["width"]
    weights = map_of(samples.sample(*samples.SENTENCE), "cross")
    page.mouse.move(2, 2)
    settle(page)
    assert (cell_colours(page, *weights.shape) == colours(weights, "light")).all()
