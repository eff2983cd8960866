"""The decoding as a film, recorded by the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.explorer_driver import settle, state

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_the_decoding_is_recorded_as_a_film(explorer: Page, tmp_path: Path) -> None:
    explorer.locator(".menu-button").click()
    with explorer.expect_download() as waiting:
        explorer.locator(".record").click()
        explorer.keyboard.press("Escape")
        settle(explorer)
        assert state(explorer, "step") == 1, "from the first token"
    explorer.locator(".play.playing").wait_for(state="detached")
    assert state(explorer, "step") is None, "to the last"
    assert waiting.value.suggested_filename == "headlight_cross_4.6.webm"
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
    assert 9 * 0.6 < seconds < 30, "ten tokens, more than half a second each"
