"""The explorer in a real browser: choosing, stepping, keyboard, new translations, the decoding as a film."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import pytest

from tests.browser import explorer_samples as samples
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
    milliseconds_of,
    patch,
    press,
    selected,
    settle,
    shown,
    state,
)
from tests.browser.file_explorer import START, reported, sample, show_next
from tests.browser.rest import quickest, steady
from viz_app.components.explorer.payload import Step, pack
from viz_app.components.explorer.selection import Selection

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator, Page


def test_a_tile_opens_its_head_at_once_and_python_hears_of_it(explorer: Page) -> None:
    caption = explorer.locator(".caption")

    def spent() -> float:
        choose(explorer, ".tile >> nth=0")
        before = caption.inner_text()
        milliseconds = milliseconds_of(explorer.locator(".tile").nth(20))
        assert caption.inner_text() != before and "head cross.3.5" in caption.inner_text()
        return milliseconds

    assert quickest(spent, 280) < 280, "drawn before Python is even told (300 ms)"
    explorer.get_by_text('"layer": 2').wait_for()
    assert reported(explorer) == Selection(kind="cross", layer=2, head=4).to_dict()

    # By keyboard every cell and every head.
    weights = map_of(MAPS, "cross", 2, 4)
    press(explorer, ".map", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight")
    assert announced(explorer) == f"head cross.3.5, 'bra' to 'dog', {weights[1, 2]:.2f}"
    press(explorer, ".tile[tabindex='0']", "ArrowDown", "ArrowRight", "Enter")
    assert selected(explorer) == "2.2"
    assert explorer.locator(".tile[tabindex='0']").count() == 1

    # One layer side by side, with the value of the cell in each head.
    patch(explorer, view="layer")
    choose(explorer, ".layer .choice-button >> nth=0")
    assert explorer.locator(".tile-name").all_inner_texts() == [f"1.{head}" for head in range(1, 9)]
    press(explorer, ".map", "PageUp", "Home", "ArrowRight")
    expected = [f"{MAPS.cross[0, head, 0, 1]:.3f}" for head in range(8)]
    assert explorer.locator(".tile-value").all_inner_texts() == expected
    assert selected(explorer) == "1.2"


@pytest.mark.parametrize("motion", ["no-preference", pytest.param("reduce", marks=pytest.mark.slow)])
def test_a_new_translation_keeps_the_place_and_the_selection(
    explorer: Page, motion: Literal["no-preference", "reduce"]
) -> None:
    explorer.emulate_media(reduced_motion=motion)
    choose(explorer, ".kind-decoder")
    choose(explorer, ".tile >> nth=9")
    explorer.locator(".slider").fill("9")
    explorer.get_by_text('"step": 9').wait_for()
    explorer.locator(".explorer").evaluate("(root) => { root.same = true; }")
    show_next(explorer, sample("other"))
    explorer.get_by_text("vergessen", exact=True).wait_for()
    settle(explorer)
    assert explorer.locator(".explorer").evaluate("(root) => root.same") is True
    assert selected(explorer) == "2.2"
    assert explorer.locator(".kind-decoder").get_attribute("aria-pressed") == "true"
    assert explorer.locator(".slider").input_value() == "9"
    tile = steady(explorer.locator(".tile canvas").nth(9))  # the tiles fade over
    explorer.set_viewport_size({"width": 1281, "height": 720})
    settle(explorer)  # draws everything again
    assert explorer.locator(".tile canvas").nth(9).evaluate("(canvas) => canvas.toDataURL()") == tile
    weights = map_of(samples.sample(*samples.OTHER), "decoder", 1, 1)[:9, :9]
    plain = allowed("decoder", weights.shape)
    plain[8] = False  # the newest row is outlined
    assert (cell_colors(explorer, 9, 9)[plain] == colors(weights, "light")[plain]).all()

    # A step that a shorter translation lacks becomes its end.
    show_next(explorer, sample("20"))
    explorer.locator(".slider").fill("18")
    explorer.get_by_text('"step": 18').wait_for()
    show_next(explorer, sample("other"))
    explorer.get_by_text('"step": null').wait_for()
    assert explorer.locator(".step-text").inner_text() == "All tokens (13)"
    assert explorer.locator(".token.unwritten").count() == 0


def check_shares(place: Locator, names: list[str], step: Step, token: str) -> None:
    """The percentages beside these tokens are those of a step."""
    expected = {token: step.probability, **{shown(other): share for other, share in step.alternatives}}
    numbers = [int(re.sub(r"\D", "", text)) for text in place.locator(".number").all_inner_texts()]
    assert len(numbers) == len(names)
    assert all(abs(number - 100 * expected[name]) <= 0.51 for name, number in zip(names, numbers, strict=True))


def test_at_a_step_only_what_is_written_is_shown_and_its_candidates(explorer: Page) -> None:
    steps = samples.confidences(MAPS)
    assert not explorer.locator(".candidates").is_visible()
    press(explorer, ".play", "Home", "ArrowRight", "ArrowRight", "ArrowRight")
    assert explorer.locator(".step-text").inner_text() == "Token 4 of 10"
    written = explorer.locator(".token:not(.unwritten)").all_inner_texts()
    assert written == [shown(token) for token in MAPS.outputs.tokens[:4]]
    result = cell_colors(explorer, len(MAPS.outputs), len(MAPS.source))
    assert (result[:3] == colors(map_of(MAPS, "cross")[:3], "light")).all()
    assert (result[4:] == 255).all(), "rows that are not written yet are empty"
    assert "Generating Hund" in explorer.locator(".caption").inner_text()
    names = explorer.locator(".candidate bdi").all_inner_texts()
    assert sorted(names) == sorted(["Hund", *(shown(token) for token, _ in steps[3].alternatives)])
    check_shares(explorer.locator(".candidate"), names, steps[3], "Hund")
    assert explorer.locator(".candidate.chosen bdi").inner_text() == "Hund"
    choose(explorer, ".kind-encoder")
    assert (cell_colors(explorer, 11, 11) == colors(map_of(MAPS, "encoder"), "light")).all()
    assert explorer.get_by_text("The encoder reads the whole sentence").is_visible()
    press(explorer, ".slider", "End")
    assert explorer.locator(".token.unwritten").count() == 0
    assert state(explorer, "step") is None
    assert not explorer.locator(".candidates").is_visible() and explorer.locator(".words-note").is_visible()

    # A token that is pressed shows how sure the model was, and what came next; the encoder gives way.
    candidates = explorer.locator(".candidates")
    press(explorer, ".token >> nth=3", "Enter")
    assert state(explorer, "kind") == "cross"
    check_shares(candidates.locator(".candidate"), candidates.locator("bdi").all_inner_texts(), steps[3], "Hund")
    press(explorer, ".token >> nth=3", "Enter")
    assert not candidates.is_visible()
    unsure = explorer.locator(".token").evaluate_all("(all) => all.map((one) => one.classList.contains('unsure'))")
    assert unsure == [step.probability < 0.5 for step in steps]

    explorer.locator(".map").focus()
    explorer.keyboard.press("Space")
    explorer.get_by_text("Token 3 of 10").wait_for()
    explorer.keyboard.press("Space")
    stopped = explorer.locator(".step-text").inner_text()
    explorer.wait_for_timeout(900)
    assert explorer.locator(".step-text").inner_text() == stopped
    assert explorer.locator(".play").get_attribute("aria-label") == ENGLISH["play"]


def test_the_decoding_is_recorded_as_a_film(open_payload: Open, tmp_path: Path) -> None:
    maps = samples.sample(samples.SENTENCE[0], samples.SENTENCE[1][:3])
    explorer = open_payload(pack(maps, steps=None, texts=ENGLISH, selection=START))
    explorer.locator(".menu-button").click()
    with explorer.expect_download() as waiting:
        explorer.locator(".record").filter(has_text="WebM").click()
        explorer.keyboard.press("Escape")
        settle(explorer)
        assert state(explorer, "step") == 1, "from the first token"
    explorer.locator(".play.playing").wait_for(state="detached")
    assert state(explorer, "step") is None, "to the last"
    assert waiting.value.suggested_filename == "headlight_cross.4.6.webm"
    waiting.value.save_as(tmp_path / "film.webm")
    film = (tmp_path / "film.webm").read_bytes()
    assert film.startswith(b"\x1a\x45\xdf\xa3") and b"webm" in film[:64], "an EBML file of the kind WebM"
    size, seconds = explorer.evaluate(
        """async (bytes) => {
          const film = document.createElement("video");
          film.src = URL.createObjectURL(new Blob([new Uint8Array(bytes)], { type: "video/webm" }));
          await new Promise((done, fail) => { film.onloadeddata = done; film.onerror = fail; });
          film.currentTime = 1e6; // a recorded film tells its length only when its end was looked for
          await new Promise((done) => { film.onseeked = done; });
          return [[film.videoWidth, film.videoHeight], film.currentTime];
        }""",
        list(film),
    )
    canvas = explorer.locator(".map canvas").evaluate("(canvas) => [canvas.width, canvas.height]")
    assert size[0] >= canvas[0] and size[1] >= canvas[1]
    assert 3 * 0.6 < seconds < 15, "four tokens, more than half a second each"
