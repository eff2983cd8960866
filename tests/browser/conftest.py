"""The real app in a real Chromium.

`serve(script)` starts Streamlit on a free port and gives its address; `open_page(address, ...)` opens it as a person
would. Every page that a test opens is watched: a request that leaves this machine, an error on the console or an
uncaught exception in the page fails the test. Without Chromium or Playwright the tests are skipped, but they fail
when CI=true, so that nobody takes a skipped suite for a passed one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlsplit

import pytest

from tests.browser.chromium import Chromium, executable
from tests.browser.explorer_driver import PAGE
from tests.browser.kept import Kept
from tests.browser.rest import PAGE_MILLISECONDS, rest, settled
from tests.browser.served import address_of
from tests.conftest import SERVERS
from tests.missing import skip_or_fail

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, WebSocket

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
APP = ROOT / "viz_app" / "main.py"
LOCAL_SCHEMES = {"data", "blob", "about", "chrome-error"}

Serve = Callable[..., str]
OpenPage = Callable[..., "Page"]
CheckAccessibility = Callable[["Page"], None]


def _missing(what: str) -> NoReturn:
    skip_or_fail(f"{what} is missing, so no browser test can run")


_chromium = Chromium()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Generator[None]:
    """Chromium runs on from browser test to browser test, and no longer."""
    yield
    if nextitem is None or HERE not in nextitem.path.parents:
        _chromium.close()


@pytest.fixture
def browser() -> Browser:
    """A headless Chromium, one for all browser tests that this process runs in a row."""
    return _browser()


def _browser() -> Browser:
    path = executable()
    if path is None:
        _missing("Chromium (install it, or name it in HEADLIGHT_CHROMIUM)")
    try:
        return _chromium.get(path)
    except ImportError:
        _missing("Playwright (python -m pip install -r requirements-dev.txt)")


@pytest.fixture(scope="session")
def serve() -> Serve:
    """Start a Streamlit script once and give its address, such as `http://127.0.0.1:8765`.

    `serve(script, NAME="value")` starts it with another environment. All processes of the run share the server.
    """
    folder = Path(os.environ[SERVERS])
    known: dict[tuple[object, ...], str] = {}

    def start(script: Path, **environment: str) -> str:
        key = (script, *sorted(environment.items()))
        if key not in known:
            known[key] = address_of(script, environment, folder)
        return known[key]

    return start


@pytest.fixture
def app_url(serve: Serve) -> str:
    """The address of the app itself, with the checkpoint that it ships or that HEADLIGHT_CHECKPOINT names."""
    if not (checkpoint() / "manifest.json").exists():
        _missing(f"The trained model in {checkpoint()}")
    return serve(APP)


def checkpoint() -> Path:
    """The checkpoint that the app serves in these tests."""
    return Path(os.environ.get("HEADLIGHT_CHECKPOINT") or ROOT / "checkpoints" / "en-de")


class Watch:
    """Collects what a page must never do."""

    def __init__(self) -> None:
        self.external: list[str] = []
        self.errors: list[str] = []

    def told(self) -> tuple[list[str], list[str]]:
        """What was collected since the last call: addresses elsewhere, and errors."""
        told = self.external, self.errors
        self.external, self.errors = [], []
        return told

    def attach(self, context: BrowserContext) -> None:
        """Listen to everything that any page or frame of this context does."""
        context.on("request", self._request)
        context.on("console", self._console)
        context.on("weberror", lambda error: self.errors.append(f"uncaught: {error.error}"))
        context.on("page", lambda page: page.on("websocket", self._websocket))

    def _address(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in LOCAL_SCHEMES and parts.hostname != "127.0.0.1":
            self.external.append(url)

    def _request(self, request: Request) -> None:
        self._address(request.url)

    def _websocket(self, websocket: WebSocket) -> None:
        self._address(websocket.url)

    def _console(self, message: ConsoleMessage) -> None:
        # Opened at the address of a page, Streamlit looks for its server below that address first.
        missing = "/_stcore/" in message.location.get("url", "") and "404" in message.text
        if message.type == "error" and not missing:
            self.errors.append(f"console: {message.text} ({message.location.get('url', '')})")


class Pages:
    """Pages in fresh profiles, all of them watched."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._watch = Watch()
        self._contexts: list[BrowserContext] = []

    def open(
        self,
        url: str,
        *,
        width: int = 1280,
        height: int = 720,
        dark: bool = False,
        locale: str = "en-US",
        still: bool = False,
    ) -> Page:
        """Open an address and wait until Streamlit is done; `still` asks for reduced motion."""
        context = self._browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            locale=locale,
            reduced_motion="reduce" if still else "no-preference",
            accept_downloads=True,
        )
        context.set_default_timeout(PAGE_MILLISECONDS)
        self._watch.attach(context)
        self._contexts.append(context)
        page = context.new_page()
        page.goto(url)
        wait_until_idle(page)
        return page

    def close(self) -> None:
        """Close all of them."""
        for context in self._contexts:
            context.close()

    def check(self) -> None:
        """Fail when one of them did since the last check what a page must never do."""
        external, errors = self._watch.told()
        assert not external and not errors, f"requests left this machine: {external}; errors in the browser: {errors}"


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Open an address in a fresh profile: `open_page(url, width=1280, height=720, dark=False, locale="en-US")`.

    `still=True` asks for reduced motion.
    """
    pages = Pages(browser)
    yield pages.open
    pages.close()
    pages.check()


@pytest.fixture
def page(open_page: OpenPage, app_url: str) -> Page:
    """The app's home at 1280 x 720 in English, light."""
    return open_page(app_url)


def wait_until_idle(page: Page) -> None:
    """Wait until Streamlit has run the script to its end."""
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for(state="attached")


@pytest.fixture
def check_accessibility() -> CheckAccessibility:
    """Fail when axe finds something serious or critical on the page, which it looks at once, when nothing changes."""
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        _missing("axe (python -m pip install -r requirements-dev.txt)")
    axe = Axe()

    def check(page: Page) -> None:
        settled(page)
        response: dict[str, Any] = axe.run(page).response
        found = [
            f"{violation['id']}: {violation['help']} at {[node['target'] for node in violation['nodes']][:5]}"
            for violation in response["violations"]
            if violation["impact"] in ("serious", "critical")
        ]
        assert not found, "axe finds: " + "; ".join(found)

    return check


@pytest.fixture(scope="module")
def kept() -> Kept:
    """Pages of the explorer that the tests of a file hand on."""
    return Kept()


@pytest.fixture(scope="module")
def explorer_pages() -> Iterator[Pages]:
    """All pages of the explorer that the tests of a file open."""
    pages = Pages(_browser())
    yield pages
    pages.close()


@pytest.fixture
def open_explorer(serve: Serve, explorer_pages: Pages, kept: Kept) -> Iterator[OpenPage]:
    """Open the bare page, or get it as it was opened: `open_explorer("other", language="ko", width=390)`."""

    def start(sample: str = "sentence", *, language: str = "en", **options: Any) -> Page:
        def opened() -> Page:
            page = explorer_pages.open(f"{serve(PAGE)}/?sample={sample}&language={language}", **options)
            page.locator(".explorer .tile").first.wait_for()
            rest(page)
            return page

        return kept.take((("sample", sample), ("language", language), *sorted(options.items())), opened)

    yield start
    kept.give_back()
    explorer_pages.check()
