"""A page whose server has been started again, or that another front end takes over: it keeps what it shows."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

from benchmarks.browser import TOUR_SHOWN, wait_until_up
from viz_app.text.examples import EXAMPLES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 60
SESSION = "document.documentElement.dataset.session"
FIRST, SECOND, THIRD = list(EXAMPLES.values())[1:4]


class Server:
    """A server that can be started again where it was."""

    def __init__(self, checkpoint: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self.address = f"http://127.0.0.1:{self._port}"
        self._settings = {"HEADLIGHT_CHECKPOINT": str(checkpoint), "HEADLIGHT_WORKERS": "0"}
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "streamlit", "run", "viz_app/main.py", f"--server.port={self._port}"]
        self._process = subprocess.Popen(
            [*command, "--server.headless=true"],
            cwd=ROOT,
            env={**os.environ, **self._settings},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_until_up(self.address)

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(SECONDS)


@pytest.fixture
def server(random_checkpoint: Path) -> Iterator[Server]:
    found = Server(random_checkpoint)
    yield found
    found.stop()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Not watched as other pages are: that it loses its server is an error in the console."""
    found = browser.new_page()
    found.add_init_script(TOUR_SHOWN)
    yield found
    found.close()


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


def test_sentence_and_head_outlive_the_server(server: Server, page: Page) -> None:
    page.goto(f"{server.address}/?lang=en&kind=cross&layer=1&head=1&text={FIRST}")
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
    assert parse_qs(urlsplit(page.url).query)["head"] == ["1"]
