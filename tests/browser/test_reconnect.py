"""A page whose server has been started again, or that another front end takes over: it keeps what it shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.rest import rest
from tests.browser.served import AppServer
from viz_app.text.examples import EXAMPLES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, WebSocketRoute

SECONDS = 60
SESSION = "document.documentElement.dataset.session"
FIRST, SECOND, THIRD = list(EXAMPLES.values())[1:4]


@pytest.fixture
def server(random_checkpoint: Path, tmp_path: Path) -> Iterator[AppServer]:
    result = AppServer(tmp_path / "log", HEADLIGHT_CHECKPOINT=str(random_checkpoint), HEADLIGHT_WORKERS="0")
    yield result
    result.stop()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Not watched as other pages are: that it loses its server is an error in the console."""
    result = browser.new_page()
    yield result
    result.close()


class Line:
    """The connection of the page that is open first, whose messages can be held back."""

    def __init__(self, page: Page) -> None:
        self.held: list[str | bytes] = []
        self.holds = self.is_mute = False
        self._first: WebSocketRoute | None = None
        page.route_web_socket("**/_stcore/stream", self._relay)

    def _relay(self, client: WebSocketRoute) -> None:
        server = client.connect_to_server()
        if self._first is None:
            self._first = client
            server.on_message(lambda message: self.held.append(message) if self.holds else client.send(message))
            client.on_message(lambda message: None if self.is_mute else server.send(message))

    def release(self) -> None:
        assert self._first is not None
        for message in self.held:
            self._first.send(message)
        self.holds = False


def shown(page: Page, text: str) -> Callable[[], bool]:
    def is_shown() -> bool:
        parts = parse_qs(urlsplit(page.url).query)
        return parts.get("text") == [text] and page.get_by_role("textbox").first.input_value() == text

    return is_shown


def wait(page: Page, condition: Callable[[], bool]) -> None:
    for _ in range(10 * SECONDS):
        if condition():
            return
        page.wait_for_timeout(100)
    pytest.fail(f"the page is at {page.url}")


def retype_until(page: Page, condition: Callable[[], bool], text: str) -> None:
    """Type, and again if nothing comes of it: what is typed in the moment in which the page opens anew is lost."""
    for _ in range(4):
        page.get_by_role("textbox").first.fill(text)
        page.get_by_role("textbox").first.press("Enter")
        for _ in range(150):
            if condition():
                return
            page.wait_for_timeout(100)
    pytest.fail(f"the page is at {page.url}")


def test_sentence_and_head_outlive_the_server(server: AppServer, page: Page) -> None:
    page.goto(f"{server.address}/?lang=en&head=cross.1.1&text={FIRST}")
    wait(page, shown(page, FIRST))
    field = page.get_by_role("textbox").first
    field.fill(SECOND)
    field.press("Enter")
    wait(page, shown(page, SECOND))
    session = page.evaluate(SESSION)
    server.stop()
    server.start()
    is_third = shown(page, THIRD)
    retype_until(page, lambda: is_third() and page.evaluate(SESSION) not in (None, session), THIRD)
    assert parse_qs(urlsplit(page.url).query)["head"] == ["cross.1.1"]


@pytest.mark.slow
def test_what_is_typed_until_the_page_opens_anew_stays(app_url: str, page: Page) -> None:
    line = Line(page)
    page.goto(f"{app_url}/?lang=en&text={FIRST}")
    wait(page, lambda: page.evaluate(SESSION) is not None)
    rest(page)
    page.evaluate(f"{SESSION} = 'of a server that is gone'")
    line.holds = True
    page.get_by_role("textbox").first.fill(SECOND)
    address = (b"headlight_address", SECOND.encode())
    wait(page, lambda: any(all(part in each for part in address) for each in line.held if isinstance(each, bytes)))
    line.is_mute = True
    page.keyboard.press("End")
    page.keyboard.type(" Now")
    with page.expect_event("load"):
        line.release()
    wait(page, shown(page, f"{SECOND} Now"))
    wait(page, lambda: page.evaluate("document.activeElement.tagName") == "INPUT")
    page.keyboard.type(" here")
    wait(page, shown(page, f"{SECOND} Now here"))
