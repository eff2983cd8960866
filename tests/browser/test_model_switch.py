"""The choice of the model in a real browser: what changes with it, what stays, and where it leads."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser.app_driver import params, wait_for_params, wait_for_translation
from tests.browser.conftest import APP, CheckAccessibility, OpenPage, Serve
from tests.browser.rest import settled, until, wait_for_value, wait_until_idle
from transformer_core.translator import Translator
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page, WebSocketRoute

TEXT = "The train is big."
GERMAN, FRENCH = "random", "English → French"


@pytest.fixture
def url(serve: Serve, random_checkpoint: Path, french_checkpoint: Path) -> str:
    """An app with two models: `random`, which tells no languages, and `french`."""
    return serve(APP, HEADLIGHT_CHECKPOINT=str(random_checkpoint), HEADLIGHT_CHECKPOINTS=str(french_checkpoint))


@pytest.fixture
def written(random_checkpoint: Path, french_checkpoint: Path) -> Callable[[str], str]:
    """What each model makes of the sentence."""
    folders = {GERMAN: random_checkpoint, FRENCH: french_checkpoint}
    return lambda name: Translator.load(folders[name]).translate(TEXT, beam=4).text


def picker(page: Page) -> Locator:
    """The chip of the model, in the field of the sentence."""
    return page.locator(".st-key-models").get_by_role("combobox")


def choice(page: Page, name: str) -> None:
    """Choose a model, with the keyboard."""
    picker(page).focus()
    page.keyboard.type(name)
    page.get_by_role("option", name=name, exact=True).wait_for()
    page.keyboard.press("Enter")


def visit(page: Page, name: str) -> None:
    """Go to another page, and wait until the server draws it: what still stands there until then is the old page's."""
    page.get_by_role("link", name=texts("en")(f"nav.{name}"), exact=True).click()
    path = "" if name == "translate" else name
    page.wait_for_url(lambda url: urlsplit(url).path == f"/{path}", wait_until="commit")


def spoken(page: Page, name: str) -> None:
    """Wait until the page says that this model speaks."""
    wait_for_value(picker(page), name)


def test_the_model_changes_and_the_rest_stays(
    url: str, open_page: OpenPage, written: Callable[[str], str], check_accessibility: CheckAccessibility
) -> None:
    t = texts("en")
    page = open_page(url)
    field = page.get_by_role("textbox", name=re.compile("^Sentence in "))
    field.fill(TEXT)
    wait_for_params(page, text=TEXT)
    wait_for_translation(page, written(GERMAN))
    page.get_by_role("button", name=t("explorer.kind_decoder")).first.click()
    page.get_by_role("gridcell").nth(1).click()
    wait_for_params(page, head="decoder.1.2")

    choice(page, FRENCH)
    wait_for_params(page, model="french")
    wait_for_translation(page, written(FRENCH))
    spoken(page, FRENCH)
    line = page.locator(".explorer .words")
    assert line.get_attribute("lang") == "fr"
    wait_for_value(field, TEXT)
    stays = {"text": TEXT, "lang": "en", "head": "decoder.1.2", "model": "french"}
    assert {name: params(page)[name] for name in stays} == stays

    # Its link on a Korean phone, where the other one is chosen.
    width, french = 390, "영어 → 프랑스어"
    phone = open_page(page.url.replace("lang=en", "lang=ko"), width=width, dark=True)
    wait_for_translation(phone, written(FRENCH), "ko")
    spoken(phone, french)
    assert {name: params(phone)[name] for name in stays} == {**stays, "lang": "ko"}
    box = picker(phone).bounding_box()
    assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= width
    assert phone.evaluate("document.documentElement.scrollWidth") <= width
    check_accessibility(phone)
    choice(phone, GERMAN)
    wait_for_translation(phone, written(GERMAN), "ko")

    page.bring_to_front()
    choice(page, GERMAN)
    wait_for_translation(page, written(GERMAN))
    wait_for_params(page, head="decoder.1.2")
    assert until(page, lambda: "model" not in params(page))
    assert line.get_attribute("lang") == "", "it does not tell what it writes"


@dataclass
class Line:
    """The way between the page and its server: what the page says can be lost, and what the server says can wait."""

    is_cut: bool = False
    waits: bool = False
    said: list[bytes] = field(default_factory=list)
    waiting: list[bytes] = field(default_factory=list)

    def connect(self, client: WebSocketRoute) -> None:
        self.client, server = client, client.connect_to_server()

        def say(message: str | bytes) -> None:
            assert isinstance(message, bytes)
            self.said.append(message)
            if not self.is_cut:
                server.send(message)

        def answer(message: str | bytes) -> None:
            assert isinstance(message, bytes)
            self.waiting.append(message)
            if not self.waits:
                self.deliver()

        client.on_message(say)
        server.on_message(answer)

    def has_said(self, text: str) -> bool:
        return any(text.encode() in each for each in self.said)

    def ended(self) -> bool:
        """Whether the answer of a whole run waits."""
        kinds = (ForwardMsg.FromString(each).WhichOneof("type") for each in self.waiting)
        return "script_finished" in kinds

    def deliver(self) -> None:
        self.waits = False
        for message in self.waiting:
            self.client.send(message)
        self.waiting.clear()


@pytest.fixture
def line() -> Line:
    return Line()


@pytest.fixture
def page(url: str, open_page: OpenPage, line: Line) -> Page:
    """Translate, with its line to the server in our hands."""
    page = open_page(url)
    page.route_web_socket("**/_stcore/stream", line.connect)
    page.goto(f"{url}/?text=The+dog.")  # the way to the server is made anew
    page.get_by_role("gridcell").first.wait_for()
    wait_until_idle(page)
    return page


def test_a_first_look_is_one_run_and_what_is_chosen_right_before_leaving_is_not_lost(page: Page, line: Line) -> None:
    """A busy server puts the message of the change of page in the place of earlier ones, which it then never sees."""
    settled(page)  # a second run would undo what is typed meanwhile
    assert [BackMsg.FromString(each).WhichOneof("type") for each in line.said] == ["rerun_script"]
    typed = page.get_by_role("textbox", name=re.compile("^Sentence in "))
    journeys = (1, FRENCH, "The train is big.", "figures"), (2, GERMAN, "The dog is here.", "model")
    for is_busy, (cell, wanted, text, elsewhere) in zip((False, True), journeys, strict=True):
        if is_busy:  # with a run that knows nothing of it yet
            line.waits = True
            page.get_by_role("gridcell").nth(cell).click()
            assert until(page, line.ended)
        line.is_cut = True
        typed.fill(text)
        assert until(page, partial(line.has_said, text))
        choice(page, wanted)
        line.deliver()
        settled(page)
        spoken(page, wanted)
        wait_for_value(typed, text)
        line.is_cut = False
        for name in (elsewhere, "translate"):
            visit(page, name)
            wait_for_params(page, text=text)
            wait_until_idle(page)
            spoken(page, wanted)
        wait_for_value(typed, text)
