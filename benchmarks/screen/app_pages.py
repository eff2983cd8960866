"""Measure changes of page in the app, and what the pages Model and Figures cost when they are opened.

    python -m benchmarks.screen.app_pages [--rounds 5] [--old DIR] [--only change,open]

A change counts from the press in the navigation to the frame in which the new page's picture or numbers stand, in a
session that has seen all pages. Opening is of an address in a new profile. `server` and `browser` are CPU seconds of
all their processes until nothing changes any more, MB is what comes over the network, `shift` is the layout shift in a
window and on a phone (good is below 0.1). All are medians. `--old` names another checkout of this repository, which
takes turns with this one. Needs the development requirements and a Chromium.
"""

from __future__ import annotations

import statistics
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.machine import read_options, report
from benchmarks.screen.browser import APP, ROOT, browsing, server
from benchmarks.server.visitor import processor_seconds
from tests.browser.rest import settled

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# What a page is opened for; Figures has its picture, Model its numbers.
CHANGES = {
    "lab": ".lesson canvas, .lesson svg",
    "figures": ".st-key-figures-paper img",
    "model": "[data-testid=stMetricValue]",
    "lessons": ".index svg",
    "translate": ".explorer canvas",
}
OPENED = ("model", "figures")
WINDOWS = {"window": (1280, 720), "phone": (390, 844)}
LONGEST = 240_000  # milliseconds; the machine may be busy
_WATCH = """
() => {
  const watched = (globalThis.watched = { shift: 0, bytes: 0 });
  addEventListener("click", ({ isTrusted }) => { if (isTrusted) watched.pressed = performance.now(); }, true);
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) watched.shift += value;
  }).observe({ type: "layout-shift", buffered: true });
}
"""
_SHOWN = """
(selector) => {
  const { watched } = globalThis;
  watched.pressed = 0;
  const roots = (node) => [node, ...Array.from(node.querySelectorAll("*"))
    .flatMap((each) => each.shadowRoot ? roots(each.shadowRoot) : [])];
  const isShown = (each) => each.checkVisibility() && each.getBoundingClientRect().height > 20
    && each.complete !== false && !each.closest("[data-stale=true]");
  watched.shown = new Promise((resolve) => {
    const look = () => {
      const stands = () => roots(document).some((root) => [...root.querySelectorAll(selector)].some(isShown));
      const shown = () => resolve((performance.now() - watched.pressed) / 1000);
      if (watched.pressed && stands()) requestAnimationFrame(shown);
      else setTimeout(look, 4);
    };
    look();
  });
}
"""


class _Cost:
    """CPU seconds of a server and of a browser from now on."""

    def __init__(self, browser: Browser, pid: int) -> None:
        self._protocol, self._pid = browser.new_browser_cdp_session(), pid
        self._before = self._now()

    def _now(self) -> tuple[float, float]:
        processes = self._protocol.send("SystemInfo.getProcessInfo")["processInfo"]
        return processor_seconds(self._pid), sum(each["cpuTime"] for each in processes)

    def since(self) -> list[float]:
        return [now - before for now, before in zip(self._now(), self._before, strict=True)]


def _start(browser: Browser, address: str, size: tuple[int, int]) -> Page:
    context = browser.new_context(viewport={"width": size[0], "height": size[1]})
    context.set_default_timeout(LONGEST)
    page = context.new_page()
    page.add_init_script(f"({_WATCH})()")
    page.goto(address)
    return page


def _change(page: Page, pid: int, name: str) -> list[float]:
    """Return the seconds to the new page, and the CPU seconds of server and browser."""
    cost = _Cost(page.context.browser, pid)  # type: ignore[arg-type]
    page.evaluate(_SHOWN, CHANGES[name])
    path = "" if name == "translate" else name
    page.locator(f"[data-testid=stTopNavLink][href$='/{path}']").click()
    seconds: float = page.evaluate("() => watched.shown")
    settled(page)
    return [seconds, *cost.since()]


def _open(browser: Browser, address: str, pid: int, name: str) -> list[float]:
    """Seconds of both processors, MB, and the layout shift in each window."""
    row: list[float] = []
    for size in WINDOWS.values():
        received = 0

        def count(event: dict[str, float]) -> None:
            nonlocal received
            received += int(event["encodedDataLength"])

        cost = _Cost(browser, pid)
        page = _start(browser, "about:blank", size)
        protocol = page.context.new_cdp_session(page)
        protocol.send("Network.enable")
        protocol.on("Network.loadingFinished", count)
        page.goto(f"{address}/{name}?lang=en")
        page.locator(CHANGES[name]).first.wait_for()
        settled(page)
        row = row or [*cost.since(), received / 1e6]
        row.append(page.evaluate("() => watched.shift"))
        page.context.close()
    return row


def measure(rounds: int, checkouts: dict[str, Path], parts: list[str]) -> dict[str, dict[str, dict[str, list[float]]]]:
    """Return the median of each column, by part, page and checkout."""
    rows: dict[str, dict[str, dict[str, list[list[float]]]]] = {part: {} for part in parts}
    with ExitStack() as stack:
        browser = stack.enter_context(browsing())
        servers = {
            name: stack.enter_context(server(root / APP.relative_to(ROOT), root)) for name, root in checkouts.items()
        }
        pages = {}
        for name, (address, _) in servers.items():
            page = pages[name] = _start(browser, f"{address}/?lang=en", WINDOWS["window"])
            page.locator(CHANGES["translate"]).first.wait_for()
            settled(page)
        for _ in range(rounds + 1):
            for part, wanted in (("change", CHANGES), ("open", OPENED)):
                for each in wanted if part in parts else ():
                    for name, (address, pid) in servers.items():
                        page = pages[name]
                        row = _change(page, pid, each) if part == "change" else _open(browser, address, pid, each)
                        rows[part].setdefault(each, {}).setdefault(name, []).append(row)
    return {
        part: {
            each: {
                name: [statistics.median(column) for column in zip(*all_rows[1:], strict=True)]
                for name, all_rows in of.items()
            }
            for each, of in pages_of.items()
        }
        for part, pages_of in rows.items()
    }


def main() -> None:
    """Measure and print."""
    options = read_options(
        __doc__,
        ("--old", {"metavar": "DIR", "type": Path, "help": "An older checkout."}),
        ("--only", {"default": "change,open", "metavar": "PARTS", "help": "change, open, or both with a comma."}),
    )
    checkouts = {"new": ROOT} | ({"old": options.old.resolve()} if options.old else {})
    parts = options.only.split(",")
    measured = measure(options.rounds or (1 if options.quick else 5), checkouts, parts)
    columns = {"change": ["seconds"], "open": []}
    after = {"change": [], "open": ["MB", *(f"shift, {window}" for window in WINDOWS)]}
    for part, pages in measured.items():
        header = ["page", "checkout", *columns[part], "server s", "browser s", *after[part]]
        rows = [[page, name, *(f"{n:.3f}" for n in row)] for page, of in pages.items() for name, row in of.items()]
        report(f"pages of the app: {part}", header, rows, {"benchmark": "app_pages", part: pages}, options)


if __name__ == "__main__":
    main()
