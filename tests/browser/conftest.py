"""The real app in a real Chromium.

`serve(script)` starts Streamlit on a free port and gives its address; `open_page(address, ...)` opens it as a person
would. Every page that a test opens is watched: a request that leaves this machine, an error on the console, an uncaught
exception or a dialog fails the test. Without Chromium or Playwright the tests are skipped, but they fail
when CI=true, so that nobody takes a skipped suite for a passed one.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn
from urllib.parse import urlencode, urlsplit

import pytest

from tests.browser.chromium import Chromium, executable
from tests.browser.explorer_driver import Open
from tests.browser.file_explorer import sample
from tests.browser.file_lesson import lesson_data
from tests.browser.file_page import Answer, FilePage
from tests.browser.lesson_driver import Lesson
from tests.browser.rest import PAGE_MILLISECONDS, settled, wait_until_idle
from tests.browser.served import address_of, leave
from tests.conftest import SERVERS
from tests.missing import skip_or_fail
from viz_app.components.explorer.code import explorer_code
from viz_app.lessons.catalogue import LAB
from viz_app.lessons.stage import lesson_code

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page, WebSocket

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
APP = ROOT / "viz_app" / "main.py"
WINDOW = ("width", "height", "dark", "locale", "still")
VIOLATIONS = {"resultTypes": ["violations"]}  # axe describes each element of a page otherwise, which takes longest
COLOURS = {**VIOLATIONS, "runOnly": ["color-contrast", "link-in-text-block"]}  # rules that depend on the scheme
LOCAL_SCHEMES = {"data", "blob", "about", "chrome-error", "file"}

Serve = Callable[..., str]
OpenPage = Callable[..., "Page"]
OpenLesson = Callable[..., Lesson]
CheckAccessibility = Callable[..., None]


def _missing(what: str) -> NoReturn:
    skip_or_fail(f"{what} is missing, so no browser test can run")


_chromium = Chromium()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Generator[None]:
    """Chromium and the servers run on from browser test to browser test, and no longer."""
    yield
    if nextitem is None or HERE not in nextitem.path.parents:
        _chromium.close()
        leave(Path(os.environ[SERVERS]))


@pytest.fixture
def browser() -> Browser:
    """A headless Chromium, one for all browser tests that this process runs in a row."""
    try:
        return _chromium.get(_path())
    except ImportError:
        _missing("Playwright (python -m pip install -r requirements-dev.txt)")


def _path() -> str:
    return executable() or _missing("Chromium (install it, or name it in HEADLIGHT_CHROMIUM)")


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
    """The address of the app, with the checkpoint that it ships or, outside CI, that HEADLIGHT_CHECKPOINT names."""
    assert "HEADLIGHT_CHECKPOINT" not in os.environ or os.environ.get("CI", "").lower() != "true"
    if not (checkpoint() / "manifest.json").exists():
        _missing(f"The trained model in {checkpoint()}")
    return serve(APP)


def checkpoint() -> Path:
    """The checkpoint that the app serves in these tests."""
    return Path(os.environ.get("HEADLIGHT_CHECKPOINT") or ROOT / "checkpoints" / "en-de")


class Watch:
    """Collects what a page must never do."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def attach(self, context: BrowserContext) -> None:
        """Listen to everything that any page or frame of this context does."""
        context.on("request", lambda request: self._address(request.url))
        context.on("console", self._console)
        context.on("weberror", lambda error: self.told.append(f"uncaught: {error.error}"))
        context.on("dialog", self._dialog)
        context.on("page", lambda page: page.on("websocket", self._websocket))

    def check(self) -> None:
        """Fail when something was collected since the last check."""
        told, self.told = self.told, []
        assert not told, f"in the browser: {told}"

    def _address(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in LOCAL_SCHEMES and parts.hostname != "127.0.0.1":
            self.told.append(f"a request left this machine: {url}")

    def _websocket(self, websocket: WebSocket) -> None:
        self._address(websocket.url)

    def _console(self, message: ConsoleMessage) -> None:
        # Opened at the address of a page, Streamlit looks for its server below that address first. A phone that has
        # outlasted its class asks for it.
        url = message.location.get("url", "")
        missing = "404" in message.text and ("/_stcore/" in url or "/join/" in url)
        if message.type == "error" and not missing:
            self.told.append(f"console: {message.text} ({message.location.get('url', '')})")

    def _dialog(self, dialog: Dialog) -> None:
        self.told.append(f"dialog: {dialog.message}")
        dialog.dismiss()


_watch = Watch()


def _shape(page: Page, *, width: int = 1280, height: int = 720, dark: bool = False, still: bool = False) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="reduce" if still else "no-preference")
    page.bring_to_front()  # Chromium draws one frame a second in a page behind another


def _opened(url: str, *, locale: str = "en-US", **window: Any) -> Page:
    """Open an address and wait until Streamlit is done, if it is there; `still` asks for reduced motion."""
    context = _chromium.profile(_path(), locale, _watch.attach)
    context.set_default_timeout(PAGE_MILLISECONDS)
    page = context.new_page()
    _shape(page, **window)
    page.goto(url)
    if not url.startswith("file:"):
        wait_until_idle(page)
    return page


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Open an address as a new session: `open_page(url, width=1280, height=720, dark=False, locale="en-US")`.

    `still=True` asks for reduced motion.
    """
    pages: list[Page] = []

    def start(url: str, **window: Any) -> Page:
        pages.append(_opened(url, **window))
        return pages[-1]

    yield start
    for page in pages:
        page.close()
    _watch.check()


def _window_and_query(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What says how a page is opened, and what goes into its address."""
    window = {name: value for name, value in options.items() if name in WINDOW}
    return window, {name: value for name, value in options.items() if name not in WINDOW}


@pytest.fixture
def page(open_page: OpenPage, app_url: str) -> Page:
    """The app's home at 1280 x 720 in English, light."""
    return open_page(app_url)


@pytest.fixture
def open_lesson(open_page: OpenPage, app_url: str) -> OpenLesson:
    """Open a lesson: `open_lesson("masks", "rows", settings="at:4", lang="ko", width=390)`.

    What is not of the window goes into the address. Motion is reduced, unless with `still=False`.
    """

    def start(name: str, scene: str = "", *, url: str = app_url, settings: str = "", **options: Any) -> Lesson:
        window, query = _window_and_query({"still": True, "lang": "en", **options})
        address = {"scene": scene, "with": settings, **query}
        page = LAB if name == LAB else "lessons"
        address |= {} if name == LAB else {"lesson": name}
        return Lesson(open_page(f"{url}/{page}?{urlencode(address)}", **window))

    return start


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server(site: Path, tmp_path: Path) -> Iterator[ThreadingHTTPServer]:
    """A plain web server with the site in a folder of it."""
    (tmp_path / "courses").mkdir()
    (tmp_path / "courses" / "heads").symlink_to(site, target_is_directory=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def check_accessibility() -> CheckAccessibility:
    """Fail when axe finds something serious or critical on the page, which it looks at once, when nothing changes.

    `check_accessibility(page, "dark", "light")` looks at it in these colour schemes, from the second on at its colours
    only, and leaves it in the last.
    """
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        _missing("axe (python -m pip install -r requirements-dev.txt)")
    axe = Axe()

    def check(page: Page, *schemes: Literal["dark", "light"]) -> None:
        for scheme, rules in zip(schemes or (None,), chain([VIOLATIONS], repeat(COLOURS)), strict=False):
            if scheme:
                page.emulate_media(color_scheme=scheme)
            settled(page)
            response: dict[str, Any] = axe.run(page, options=rules).response
            rows = [
                f"{violation['id']}: {violation['help']} at {[node['target'] for node in violation['nodes']][:5]}"
                for violation in response["violations"]
                if violation["impact"] in ("serious", "critical")
            ]
            assert not rows, f"axe finds in {scheme or 'this'} scheme: " + "; ".join(rows)

    return check


@dataclass
class _Kept:
    page: FilePage | None = None


_kept = _Kept()


@pytest.fixture
def file_page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FilePage]:
    """The page for components from the disk; it stays open as long as the browser."""
    if _kept.page is None or _kept.page.page.is_closed():
        page = _chromium.profile(_path(), "en-US", _watch.attach).new_page()
        page.set_default_timeout(PAGE_MILLISECONDS)
        _kept.page = FilePage(page, tmp_path_factory.mktemp("components"))
    yield _kept.page
    _watch.check()


@pytest.fixture
def open_payload(file_page: FilePage) -> Callable[..., Page]:
    """Open an explorer: `open_payload(payload, answer, width=390, dark=True)`."""

    def start(payload: bytes, answer: Answer | None = None, **window: Any) -> Page:
        _shape(file_page.page, **window)
        file_page.open("explorer", explorer_code(), payload, answer)
        return file_page.page

    return start


@pytest.fixture
def open_lesson_file(file_page: FilePage) -> OpenLesson:
    """Open a lesson from the disk, with the numbers of this process; options as of `open_lesson`."""

    def start(
        name: str, scene: str = "", *, settings: str = "", lang: str = "en", text: str = "", **window: Any
    ) -> Lesson:
        _shape(file_page.page, **{"still": True, **window})
        file_page.open(f"lesson.{name}", lesson_code(name), *lesson_data(name, scene, settings, lang, text))
        return Lesson(file_page.page)

    return start


@pytest.fixture
def open_explorer(open_payload: Callable[..., Page]) -> Open:
    """Open the explorer of a sample: `open_explorer("other", language="ko", width=390)`."""
    return lambda name="sentence", language="en", **window: open_payload(sample(name, language), **window)


@pytest.fixture
def explorer(open_explorer: Open) -> Page:
    """The explorer at 1280 x 720 in English, light, with the sentence of explorer_driver.MAPS."""
    return open_explorer()
