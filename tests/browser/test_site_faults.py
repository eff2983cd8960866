"""The site on a host that misbehaves for a while: what it answers then is never kept."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, ClassVar

import pytest

from tests.browser.rest import until
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

QUESTIONS = "en/questions.html"
KEEP = """(keep) => new Promise(async (done) => {
  const { active } = await navigator.serviceWorker.ready;
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = ({ data }) => done(data);
  active.postMessage(keep ? { keep: [keep] } : {}, [port2]);
})"""
INSTALL = """async () => {
  const found = await navigator.serviceWorker.register("../service-worker.js");
  const worker = found.installing ?? found.waiting ?? found.active;
  while (!["activated", "redundant"].includes(worker.state))
    await new Promise((done) => worker.addEventListener("statechange", done, { once: true }));
  return worker.state;
}"""
READ = """async (path) => {
  const bytes = await fetch(path).then((answer) => answer.arrayBuffer()).catch(() => new ArrayBuffer(0));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}"""


class FaultyHandler(SimpleHTTPRequestHandler):
    """Answers with the files of a folder, but those of `faults` with something else."""

    faults: ClassVar[dict[str, Callable[[FaultyHandler, bytes], None]]] = {}

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0].removeprefix("/")
        fault = self.faults.get(path.partition("/")[2])
        if fault:
            fault(self, Path(self.translate_path(self.path)).read_bytes())
        else:
            super().do_GET()

    def copyfile(self, source: BinaryIO, outputfile: BinaryIO) -> None:  # type: ignore[override]
        with suppress(OSError):  # the browser has left
            super().copyfile(source, outputfile)

    def answer(self, data: bytes, length: bool = True) -> None:
        """Answer with other bytes, as if all were well."""
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(self.path))
        if length:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def redirect(handler: FaultyHandler, data: bytes) -> None:
    """The session at a learning platform has ended."""
    handler.send_response(302)
    handler.send_header("Location", "/login.html")
    handler.send_header("Content-Length", "0")
    handler.end_headers()


FAULTS: dict[str, Callable[[FaultyHandler, bytes], None]] = {
    "redirected": redirect,
    "cut": lambda handler, data: handler.answer(data[: len(data) // 2], length=False),
    "another version": lambda handler, data: handler.answer(data.replace(b"<title>", b"<title>Old: ")[:-1] + b" "),
}


@pytest.fixture
def host(site: Path, tmp_path: Path) -> Iterator[ThreadingHTTPServer]:
    """A web server with two copies of the site."""
    for name in ("one", "two"):
        (tmp_path / name).symlink_to(site, target_is_directory=True)
    (tmp_path / "login.html").write_text("<title>Log in</title>")
    FaultyHandler.faults = {}
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(FaultyHandler, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that nobody watches: errors are what this is about."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


def address(host: ThreadingHTTPServer, path: str) -> str:
    return f"http://127.0.0.1:{host.server_port}/{path}"


@pytest.mark.parametrize("fault", FAULTS)
def test_a_page_that_came_wrong_is_right_as_soon_as_its_host_is(
    fault: str, host: ThreadingHTTPServer, page: Page
) -> None:
    FaultyHandler.faults = {QUESTIONS: FAULTS[fault]}
    page.goto(address(host, "one/en/masks.html"))
    assert page.evaluate(INSTALL) == "activated"
    assert not page.evaluate(KEEP, QUESTIONS) and not page.evaluate(KEEP, ""), "as the button for all pages says"
    FaultyHandler.faults = {}
    assert page.evaluate(KEEP, QUESTIONS)
    FaultyHandler.faults = {QUESTIONS: redirect}  # and from now on it stays right
    page.goto(address(host, f"one/{QUESTIONS}"))
    assert "Log in" not in page.title() and "Old" not in page.title()
    assert page.locator("footer, main, body > *").last.count(), "it is whole"


@pytest.mark.parametrize("fault", ["redirected", "cut"])
def test_weights_that_came_wrong_are_fetched_again(
    fault: str, host: ThreadingHTTPServer, page: Page, site: Path
) -> None:
    weights = next(site.rglob("*.weights")).relative_to(site).as_posix()
    page.goto(address(host, "one/en/masks.html"))
    assert page.evaluate(INSTALL) == "activated"
    assert until(page, lambda: page.evaluate("navigator.serviceWorker.controller !== null"))
    right = page.evaluate(READ, address(host, f"two/{weights}"))  # which no worker keeps
    FaultyHandler.faults = {weights: FAULTS[fault]}
    assert page.evaluate(READ, address(host, f"one/{weights}")) != right
    FaultyHandler.faults = {}
    assert page.evaluate(READ, address(host, f"one/{weights}")) == right
    kept = f"caches.match('{address(host, 'one/' + weights)}', {{ ignoreSearch: true }}).then(Boolean)"
    assert until(page, lambda: page.evaluate(kept))
    FaultyHandler.faults = {weights: FAULTS[fault]}
    assert page.evaluate(READ, address(host, f"one/{weights}")) == right, "it is kept"


UPDATE = """async () => {
  const found = await navigator.serviceWorker.getRegistration();
  await found.update();
  const worker = found.installing ?? found.waiting;
  while (!["installed", "redundant"].includes(worker.state))
    await new Promise((done) => worker.addEventListener("statechange", done, { once: true }));
  return worker.state;
}"""


def test_a_new_version_begins_with_the_pages_that_the_old_one_has(
    host: ThreadingHTTPServer, page: Page, site: Path
) -> None:
    page.goto(address(host, "one/en/masks.html"))
    assert page.evaluate(INSTALL) == "activated" and page.evaluate(KEEP, QUESTIONS)
    old = (site / QUESTIONS).read_bytes()
    before, after = (hashlib.sha256(data).hexdigest() for data in (old, old + b"\n"))
    changed = {"service-worker.js": lambda handler, data: handler.answer(data.replace(before.encode(), after.encode()))}
    FaultyHandler.faults = {**changed, QUESTIONS: redirect}
    assert page.evaluate(UPDATE) == "redundant", "the old version stays until the new one is whole"
    FaultyHandler.faults = {**changed, QUESTIONS: lambda handler, data: handler.answer(data + b"\n")}
    assert page.evaluate(UPDATE) == "installed"
    kept = f"caches.match('{address(host, f'one/{QUESTIONS}?{after}')}').then(Boolean)"
    assert page.evaluate(kept)


def test_two_sites_of_one_host_and_a_full_disk(host: ThreadingHTTPServer, page: Page) -> None:
    page.goto(address(host, "one/en/masks.html"))
    assert page.evaluate(INSTALL) == "activated"
    session = page.context.new_cdp_session(page)
    origin = address(host, "").rstrip("/")
    session.send("Storage.overrideQuotaForOrigin", {"origin": origin, "quotaSize": 1})
    page.goto(address(host, "two/en/masks.html"))
    page.evaluate(INSTALL)
    assert not page.evaluate(KEEP, QUESTIONS)
    page.locator(".lesson canvas").first.wait_for()  # it works, and keeps nothing
    session.send("Storage.overrideQuotaForOrigin", {"origin": origin, "quotaSize": 10**9})
    assert page.evaluate(KEEP, QUESTIONS)
    page.goto(address(host, "one/en/masks.html"))
    assert page.evaluate(KEEP, QUESTIONS)
    FaultyHandler.faults = {QUESTIONS: redirect}
    for name in ("one", "two"):
        page.goto(address(host, f"{name}/{QUESTIONS}"))
        assert page.title() != "Log in"


SANDBOXED = """(address) => {
  const frame = Object.assign(document.createElement("iframe"), { src: address, sandbox: "allow-scripts" });
  document.body.append(frame);
}"""


def test_in_a_frame_without_its_origin_a_page_says_why_it_is_empty(host: ThreadingHTTPServer, page: Page) -> None:
    page.goto(address(host, "login.html"))
    page.evaluate(SANDBOXED, address(host, "one/en/masks.html"))
    note = page.frame_locator("iframe").locator(".page-note")
    assert until(page, lambda: note.text_content() == texts("en")("page.missing"))


CLOSED = """
for (const name of ["localStorage", "sessionStorage", "indexedDB", "caches"])
  Object.defineProperty(window, name, { get() { throw new DOMException("denied", "SecurityError"); } });
history.replaceState = () => { window.reported = true; throw new DOMException("too often", "SecurityError"); };
navigator.serviceWorker.register = () => Promise.reject(new DOMException("denied", "SecurityError"));
"""


def test_a_browser_that_keeps_nothing_shows_everything(host: ThreadingHTTPServer, page: Page) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.add_init_script(CLOSED)
    page.goto(address(host, "one/en/masks.html"))
    page.locator(".lesson canvas").first.wait_for()
    page.get_by_role("tab").nth(1).click()
    assert until(page, lambda: page.get_by_role("tab").nth(1).get_attribute("aria-selected") == "true")
    assert until(page, lambda: page.evaluate("window.reported"))
    page.locator(".site-theme").click()
    assert page.locator("html").get_attribute("data-theme") == "light"
    page.goto(address(host, "one/en/lessons.html"))
    page.locator("[data-scenes]").first.wait_for(state="attached")
    assert not errors


def test_a_page_takes_over_what_another_tab_changed_also_when_one_goes_back_to_it(
    host: ThreadingHTTPServer, page: Page
) -> None:
    page.goto(address(host, "one/en/lessons.html"))
    progress = page.locator("[data-lesson=masks][data-scenes]").first
    assert not (progress.text_content() or "").strip()
    other = page.context.new_page()
    other.goto(address(host, "one/en/masks.html"))
    other.locator(".lesson canvas").first.wait_for()
    other.locator(".site-theme").click()
    theme = page.locator("html")
    assert until(page, lambda: theme.get_attribute("data-theme") == "light" and bool(progress.text_content()))
    page.evaluate("localStorage.setItem('headlight-site-theme', '\"dark\"')")  # this tab hears nothing of itself
    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    assert theme.get_attribute("data-theme") == "dark"
