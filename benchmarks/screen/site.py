"""Measure a site of `headlight site`, served below a path: its size, the first paint of its pages, and their requests.

    python -m benchmarks.screen.site [--site DIR] [--rounds 7]

Without --site the whole site is written first, which takes minutes. Needs the development requirements and a Chromium.
A first visit has an empty cache and no service worker yet; `requests` are the page's own. `later` is the
first paint of a second visit, answered by the service worker. `sent` counts requests to other servers.
"""

from __future__ import annotations

import statistics
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.machine import read_options, report
from benchmarks.screen.browser import browsing
from transformer_core.cli import main as run_command
from viz_app.cli import PROGRAM

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PAGES = ("en/index.html", "ko/index.html", "en/masks.html", "en/heads.html", "en/model-en-tree.html")
MODELS = (".weights",)
_FIRST_PAINT = """
() => new Promise((resolve) => new PerformanceObserver((list) => {
  for (const { name, startTime } of list.getEntries()) if (name === "first-contentful-paint") resolve(startTime / 1000);
}).observe({ type: "paint", buffered: true }))
"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def _visit(browser: Browser, address: str) -> dict[str, float]:
    """First paint, requests and those to other servers of a first visit; first paint of a second one."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    asked: list[str] = []
    sent: list[str] = []
    context.on("request", lambda request: (sent if request.service_worker else asked).append(request.url))
    page = context.new_page()
    page.goto(address, wait_until="load")
    visit = {"paint": float(page.evaluate(_FIRST_PAINT)), "requests": float(len(asked))}
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    page.goto(address, wait_until="load")
    visit["later"] = float(page.evaluate(_FIRST_PAINT))
    visit["sent"] = float(sum(not url.startswith(("http://127.0.0.1", "data:", "blob:")) for url in (*asked, *sent)))
    context.close()
    return visit


def measure(site: Path, rounds: int) -> dict[str, dict[str, float]]:
    """Medians of the visits of each page."""
    pages = [name for name in PAGES if (site / name).is_file()]
    with tempfile.TemporaryDirectory() as folder, browsing() as browser:
        (Path(folder) / "sub").symlink_to(site.resolve(), target_is_directory=True)
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        start = f"http://127.0.0.1:{server.server_port}/sub/"
        visits = {name: [_visit(browser, start + name) for _ in range(rounds)] for name in pages}
        server.shutdown()
    return {
        name: {key: statistics.median(one[key] for one in each) for key in each[0]} for name, each in visits.items()
    }


def megabytes(site: Path) -> dict[str, float]:
    """Size of all files, and of those that a browser keeps after the first visit."""
    sizes = {path: path.stat().st_size / 1e6 for path in site.rglob("*") if path.is_file()}
    return {"all": sum(sizes.values()), "kept": sum(size for path, size in sizes.items() if path.suffix not in MODELS)}


def main() -> None:
    """Measure and print."""
    options = read_options(__doc__, ("--site", {"metavar": "DIR", "help": "A site that was written before."}))
    with tempfile.TemporaryDirectory() as folder:
        site = Path(options.site or Path(folder) / "site")
        own = ["--checkpoint", "checkpoints/small/learned-positions"] if options.quick else []
        if not options.site and run_command(["site", *own, "--out", str(site)], PROGRAM):
            raise SystemExit("the site was not written")
        sizes, measurements = megabytes(site), measure(site, options.rounds or (1 if options.quick else 7))
    header = ["page", "first paint s", "requests", "later s", "sent"]
    rows = [
        [name, f"{o['paint']:.3f}", f"{o['requests']:.0f}", f"{o['later']:.3f}", f"{o['sent']:.0f}"]
        for name, o in measurements.items()
    ]
    title = f"a site of {sizes['all']:.1f} MB, {sizes['kept']:.1f} MB without models"
    report(title, header, rows, {"benchmark": "site", "megabytes": sizes, "pages": measurements}, options)


if __name__ == "__main__":
    main()
