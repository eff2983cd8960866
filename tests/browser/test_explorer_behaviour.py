"""The explorer in a real browser: choosing, stepping, keyboard, new translations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest

from tests.browser import explorer_samples as samples

if TYPE_CHECKING:
    pass


from tests.browser.explorer_driver import ENGLISH, Open, cell_colors, choose, colors, map_of, reported, settle, shown
from tests.browser.rest import quickest, steady
from viz_app.components.explorer import Selection


def test_a_tile_opens_its_head_at_once_and_python_hears_of_it(open_explorer: Open) -> None:
    page = open_explorer()
    caption = page.locator(".caption")

    def spent() -> float:
        choose(page, ".tile >> nth=0")
        before = caption.inner_text()
        milliseconds: float = (
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
        assert caption.inner_text() != before and "head 3.5" in caption.inner_text()
        return milliseconds

    assert quickest(spent, 280) < 280, "drawn before Python is even told (300 ms)"
    page.get_by_text('"layer": 2').wait_for()
    assert reported(page) == Selection(kind="cross", layer=2, head=4).to_dict()


@pytest.mark.parametrize("motion", ["no-preference", pytest.param("reduce", marks=pytest.mark.slow)])
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
    assert page.locator(".tile[aria-selected=true]").get_attribute("data-head") == "2.2"
    assert page.locator(".kind-decoder").get_attribute("aria-pressed") == "true"
    assert page.locator(".slider").input_value() == "9"
    tile = steady(page.locator(".tile canvas").nth(9))  # the tiles fade over
    page.set_viewport_size({"width": 1281, "height": 720})
    settle(page)  # draws everything again
    assert page.locator(".tile canvas").nth(9).evaluate("(canvas) => canvas.toDataURL()") == tile
    maps = samples.sample(*samples.OTHER)
    weights = map_of(maps, "decoder", 1, 1)[:9, :9]
    allowed = np.tril(np.ones(weights.shape, bool))
    allowed[8] = False  # the newest row is outlined
    assert (cell_colors(page, 9, 9)[allowed] == colors(weights, "light")[allowed]).all()


def test_a_step_that_a_shorter_translation_lacks_becomes_its_end(open_explorer: Open) -> None:
    page = open_explorer("20")
    page.locator(".slider").fill("18")
    page.get_by_text('"step": 18').wait_for()
    page.get_by_text("other sentence").click()
    page.get_by_text("vergessen").wait_for()
    settle(page)
    assert page.locator(".step-text").inner_text() == "Token 13 of 13"
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
    assert page.locator(".tile[aria-selected=true]").get_attribute("data-head") == "2.2"
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
    assert page.locator(".step-text").inner_text() == "Token 4 of 10"
    written = page.locator(".piece:not(.unwritten)").all_inner_texts()
    assert written == [shown(token) for token in maps.outputs.tokens[:4]]
    found = cell_colors(page, len(maps.outputs), len(maps.source))
    weights = map_of(maps, "cross")
    assert (found[:3] == colors(weights[:3], "light")).all()
    assert (found[4:] == 255).all(), "rows that are not written yet are empty"
    assert "Generating Hund" in page.locator(".caption").inner_text()
    choose(page, ".kind-encoder")
    assert (cell_colors(page, 11, 11) == colors(map_of(maps, "encoder"), "light")).all()
    assert page.get_by_text("The encoder reads the whole sentence").is_visible()
    page.locator(".slider").focus()
    page.keyboard.press("End")
    settle(page)
    assert page.locator(".piece.unwritten").count() == 0


def test_space_plays_and_pauses_the_decoding(open_explorer: Open) -> None:
    page = open_explorer()
    page.locator(".map").focus()
    page.keyboard.press("Space")
    page.get_by_text("Token 3 of 10").wait_for()
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
    live = page.locator("figure.head > [aria-live]")
    assert live.inner_text() == f"head 4.6, 'bra' to 'dog', {weights[1, 2]:.2f}"
    page.locator(".tile[tabindex='0']").focus()
    for key in ("ArrowUp", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    settle(page)
    assert page.locator(".tile[aria-selected=true]").get_attribute("data-head") == "3.7"
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
    assert page.locator(".tile[aria-selected=true]").get_attribute("data-head") == "2.6"


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
