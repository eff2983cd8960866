"""The home of the site: its loop stops at a key, nothing moves where it may not, and what is typed is translated."""

from __future__ import annotations

from collections.abc import Callable
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.conftest import CheckAccessibility, OpenPage
from tests.browser.rest import until
from tests.browser.test_standalone import is_drawn
from transformer_core.translator import Translator
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Page, Response

MAX_BYTES = 500_000  # before anything is pressed
CAPTION = ".stage-caption"
OpenHome = Callable[..., "Home"]
# The frame that is shown: how many tokens, which is lit, whether all letters are there, and the length of all.
FRAME = """({ home }) => home?.stage.frame && (({ stage: { frame } }) => ({
    step: frame.step, chosen: frame.chosen, typed: frame.typed === Infinity, plays: frame.plays,
    length: frame.translation.length, lit: frame.words.filter((word) => word).length,
}))(home)"""


class Home:
    """The home as a visitor sees it."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.loaded: list[Response] = []
        page.on("response", lambda response: self.loaded.append(response))
        page.goto(address)
        assert until(page, lambda: bool(self.frame))

    @property
    def frame(self) -> dict[str, Any]:
        found: dict[str, Any] = self.page.locator(".stage").evaluate(FRAME)
        return found

    @property
    def weights(self) -> list[str]:
        return [each.url for each in self.loaded if each.url.endswith(".weights")]


@pytest.fixture
def open_home(server: ThreadingHTTPServer, open_page: OpenPage, tmp_path: Path) -> OpenHome:
    """Open the home: `open_home("ko", still=True)`."""
    (tmp_path / "blank.html").touch()

    def start(language: str = "en", **window: Any) -> Home:
        page = open_page((tmp_path / "blank.html").as_uri(), **window)
        return Home(page, f"http://127.0.0.1:{server.server_port}/courses/heads/{language}/index.html")

    return start


def test_the_loop_lights_word_after_word_and_stops_at_the_first_key(open_home: OpenHome) -> None:
    home = open_home()
    page = home.page
    frames: list[dict[str, Any]] = []

    def is_lit() -> bool:
        frames.append(home.frame)
        return bool(frames[-1]["chosen"])

    assert until(page, is_lit)
    assert frames[-1]["step"] == frames[-1]["chosen"] + 1 < frames[-1]["length"] and page.locator(CAPTION).inner_text()
    for canvas in (".flow canvas", ".wall canvas"):
        assert is_drawn(page, canvas)
    assert not home.weights

    button, t = page.locator(".show-button"), texts("en")
    assert button.get_attribute("aria-label") == t("home.stop")
    page.keyboard.press("Shift")
    stopped = home.frame
    assert stopped["step"] == stopped["length"] and stopped["chosen"] is None and stopped["typed"]
    assert page.locator(CAPTION).inner_text() == t("home.hint")
    page.wait_for_timeout(1_000)
    assert home.frame == stopped and not home.weights
    assert button.get_attribute("aria-label") == t("home.play")
    button.press("Enter")
    assert until(page, lambda: home.frame["plays"] or not home.frame["typed"])
    page.mouse.click(5, 400)  # a pointer stops it too
    assert home.frame["step"] == home.frame["length"]


def test_with_reduced_motion_the_last_frame_of_the_first_sentence_stands_still(
    open_home: OpenHome, check_accessibility: CheckAccessibility
) -> None:
    home = open_home("ko", still=True)
    page = home.page
    first = home.frame
    assert first["step"] == first["length"] == first["lit"] and first["chosen"] is None and not first["plays"]
    page.wait_for_timeout(1_500)
    assert home.frame == first and page.locator(".show-button").is_hidden()
    check_accessibility(page)

    beams = page.locator(".flow")
    beams.focus()
    page.keyboard.press("ArrowRight")
    assert home.frame["chosen"] == 0
    page.keyboard.press("Escape")
    assert home.frame["chosen"] is None
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_what_is_typed_loads_the_model_and_is_translated(open_home: OpenHome, random_checkpoint: Path) -> None:
    text = "A dog runs."
    home = open_home(still=True)
    page = home.page
    page.wait_for_load_state("networkidle")
    own = [each for each in home.loaded if "service-worker" not in each.url]
    assert sum(int(each.headers["content-length"]) for each in own) < MAX_BYTES and not home.weights

    page.locator(".turn-text").fill(text)
    expected = Translator.load(random_checkpoint, device="cpu").translate(text, beam=4)
    spoken = page.locator(".turn-spoken")
    assert until(page, lambda: spoken.text_content() == expected.text)
    assert len(home.weights) == 1 and page.locator(".turn-loading").is_hidden()
    assert until(page, lambda: home.frame["lit"] == len(expected.attention.outputs))
    assert home.frame["step"] == home.frame["length"] == len(expected.attention.outputs)
    shown = page.locator(".stage").evaluate("({ home }) => home.stage.frame.translation.axes.source.tokens")
    assert shown == list(expected.attention.source.tokens)
    address = urlsplit(str(page.locator(".turn-open").get_attribute("href")))
    assert address.path == "model-random.html" and parse_qs(address.fragment) == {"text": [text]}

    page.locator(".wall-kind canvas").nth(2).hover(position={"x": 3, "y": 3})
    tile = urlsplit(str(page.locator(".wall-kind").nth(2).get_attribute("href")))
    assert parse_qs(tile.fragment) == {"text": [text], "head": ["cross.1.1"]}
    page.locator(".turn-text").fill("\ud55c\uad6d\uc5b4")
    note = page.locator(".turn-note")
    assert until(page, lambda: bool(note.inner_text())) and home.frame["lit"]  # what was there stays
