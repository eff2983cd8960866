"""The real app in a real Chromium.

`serve(script)` starts Streamlit on a free port and gives its address; `open_page(address, ...)` opens it as a person
would. Every page that a test opens is watched: a request that leaves this machine, an error on the console or an
uncaught exception in the page fails the test. Without Chromium or Playwright the tests are skipped, but they fail
when CI=true, so that nobody takes a skipped suite for a passed one.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from tests.browser.explorer_driver import PAGE, settle

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, WebSocket

ROOT = Path(__file__).resolve().parents[2]
APP = ROOT / "viz_app" / "main.py"
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Where macOS and Windows keep their browsers, which are not on the path there.
ELSEWHERE = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
)
START_SECONDS = 60
PAGE_MILLISECONDS = 40_000  # several servers and browsers start at once on a small machine
LOCAL_SCHEMES = {"data", "blob", "about", "chrome-error"}

Serve = Callable[..., str]
OpenPage = Callable[..., "Page"]
CheckAccessibility = Callable[["Page"], None]


def _missing(what: str) -> None:
    """Skip, or fail where a skipped browser test must not pass for a green one."""
    message = f"{what} is missing, so no browser test can run"
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(message)
    pytest.skip(message)


def _chromium() -> str:
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = (shutil.which(name) for name in names)
    for candidate in (os.environ.get("HEADLIGHT_CHROMIUM"), "/usr/bin/chromium", *found, *ELSEWHERE):
        if candidate and Path(candidate).exists():
            return candidate
    _missing("Chromium (install it, or name it in HEADLIGHT_CHROMIUM)")
    raise AssertionError("unreachable: _missing always raises")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One headless Chromium for the tests of a file.

    Not for longer: while Playwright runs, no other test of this process can use asyncio.
    """
    executable = _chromium()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("Playwright (python -m pip install -r requirements-dev.txt)")
        raise
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=executable, headless=True, args=CHROMIUM_FLAGS)
        yield running
        running.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_for_health(server: subprocess.Popen[bytes], address: str, log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if server.poll() is not None:
            pytest.fail(f"the server ended with status {server.returncode}:\n{log.read_text(errors='replace')[-2000:]}")
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    pytest.fail(f"the server did not answer within {START_SECONDS} s:\n{log.read_text(errors='replace')[-2000:]}")


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """Start a Streamlit script once and give its address, such as `http://127.0.0.1:8765`.

    `serve(script, NAME="value")` starts it with another environment.
    """
    servers: dict[tuple[object, ...], tuple[subprocess.Popen[bytes], str]] = {}
    logs = tmp_path_factory.mktemp("servers")

    def start(script: Path, **environment: str) -> str:
        script = script.resolve()
        key = (script, *sorted(environment.items()))
        if key in servers:
            return servers[key][1]
        port = _free_port()
        log = logs / f"{script.stem}-{port}.log"
        options = ["--server.headless=true", f"--server.port={port}", "--server.address=127.0.0.1"]
        options += ["--server.fileWatcherType=none", "--browser.gatherUsageStats=false"]
        with log.open("wb") as output:
            server = subprocess.Popen(
                [sys.executable, "-m", "streamlit", "run", str(script), *options],
                cwd=ROOT,
                env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        address = f"http://127.0.0.1:{port}"
        servers[key] = (server, address)
        _wait_for_health(server, address, log)
        return address

    yield start
    for server, _ in servers.values():
        server.send_signal(signal.SIGINT if os.name != "nt" else signal.SIGTERM)
    for server, _ in servers.values():
        try:
            server.wait(timeout=10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


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


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Open an address in a fresh profile: `open_page(url, width=1280, height=720, dark=False, locale="en-US")`.

    `still=True` asks for reduced motion.
    """
    watch = Watch()
    contexts: list[BrowserContext] = []

    def start(
        url: str,
        *,
        width: int = 1280,
        height: int = 720,
        dark: bool = False,
        locale: str = "en-US",
        still: bool = False,
    ) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            locale=locale,
            reduced_motion="reduce" if still else "no-preference",
            accept_downloads=True,
        )
        context.set_default_timeout(PAGE_MILLISECONDS)
        watch.attach(context)
        contexts.append(context)
        page = context.new_page()
        page.goto(url)
        wait_until_idle(page)
        return page

    yield start
    for context in contexts:
        context.close()
    assert not watch.external and not watch.errors, (
        f"requests left this machine: {watch.external}; errors in the browser: {watch.errors}"
    )


@pytest.fixture
def page(open_page: OpenPage, app_url: str) -> Page:
    """The app's home at 1280 x 720 in English, light."""
    return open_page(app_url)


def wait_until_idle(page: Page) -> None:
    """Wait until Streamlit has run the script to its end."""
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for(state="attached")


@pytest.fixture
def check_accessibility() -> CheckAccessibility:
    """Fail when axe finds something serious or critical on the page as it stands."""
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        _missing("axe (python -m pip install -r requirements-dev.txt)")
        raise
    axe = Axe()

    def check(page: Page) -> None:
        response: dict[str, Any] = axe.run(page).response
        grave = [
            f"{violation['id']}: {violation['help']} at {[node['target'] for node in violation['nodes']][:5]}"
            for violation in response["violations"]
            if violation["impact"] in ("serious", "critical")
        ]
        assert not grave, "axe finds: " + "; ".join(grave)

    return check


@pytest.fixture
def open_explorer(serve: Serve, open_page: OpenPage) -> OpenPage:
    """Open the bare page: `open_explorer("other", language="ko", width=390)`."""

    def start(sample: str = "sentence", *, language: str = "en", **options: Any) -> Page:
        page = open_page(f"{serve(PAGE)}/?sample={sample}&language={language}", **options)
        page.locator(".explorer .tile").first.wait_for()
        settle(page)
        return page

    return start
