"""Measure pages of the site and of the app with Lighthouse: its four scores, and the audits that cost points.

    python -m benchmarks.screen.lighthouse [--site DIR] [--rounds 3] [--only home,app] [--desktop]

Lighthouse comes from npm, pinned, and measures as for a phone with a slow network and a processor slowed down four
times, or with --desktop. The site is served compressed, below a path; without --site one with the small French model
is written first. Scores are medians. Needs the development requirements and a Chromium.
"""

from __future__ import annotations

import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from benchmarks.machine import read_options, report
from benchmarks.screen.browser import APP, chromium, serving
from transformer_core.cli import main as run_command
from viz_app.cli import PROGRAM

LIGHTHOUSE = "lighthouse@13.5.0"
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
METRICS = ("first-contentful-paint", "largest-contentful-paint", "total-blocking-time", "cumulative-layout-shift")
PAGES = {
    "home": "en/index.html",
    "translator": "en/model-en-fr-small.html",
    "lesson": "en/masks.html",
}
COMPRESSED = {".html", ".js", ".css", ".svg", ".json", ".xml", ".txt"}
_FLAGS = "--headless=new --no-sandbox --disable-gpu"


class _Compressed(SimpleHTTPRequestHandler):
    """Static files as web hosts send them: text compressed."""

    def send_head(self) -> BytesIO | BinaryIO | None:
        path = Path(self.translate_path(self.path))
        if path.suffix not in COMPRESSED or not path.is_file() or "gzip" not in self.headers["accept-encoding"]:
            return super().send_head()
        body = gzip.compress(path.read_bytes(), 6)
        self.send_response(200)
        self.send_header("content-type", self.guess_type(path))
        self.send_header("content-encoding", "gzip")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        return BytesIO(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def served(site: Path) -> Iterator[str]:
    """Serve a site below a path; yield its address."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sub").symlink_to(site.resolve(), target_is_directory=True)
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Compressed, directory=folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/sub/"
        server.shutdown()


def write_small_site(site: Path) -> None:
    """Write a site with the small French model."""
    if run_command(["site", "--checkpoint", "checkpoints/en-fr-small", "--out", str(site)], PROGRAM):
        raise SystemExit("the site was not written")


def _lighthouse(address: str, desktop: bool) -> dict[str, Any]:
    """Lighthouse's report on a page."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        command = ["npx", "--yes", LIGHTHOUSE, address, "--quiet", "--output=json", f"--output-path={path}"]
        command += [f"--only-categories={','.join(CATEGORIES)}", f"--chrome-flags={_FLAGS}"]
        environment = {**os.environ, "CHROME_PATH": chromium()}
        done = subprocess.run(
            [*command, "--preset=desktop"] if desktop else command, env=environment, capture_output=True, text=True
        )
        if done.returncode:
            raise SystemExit(f"Lighthouse did not measure {address}:\n{done.stderr[-2000:]}")
        result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if error := result.get("runtimeError"):
        raise SystemExit(f"Lighthouse did not measure {address}: {error['message']}")
    return result


def _scores(result: dict[str, Any]) -> dict[str, float]:
    scores = {name: 100 * (result["categories"][name]["score"] or 0) for name in CATEGORIES}
    return scores | {name: result["audits"][name]["numericValue"] for name in METRICS}


def _failed(result: dict[str, Any]) -> list[str]:
    """The audits that cost points, with their first places."""
    lines = []
    for category in CATEGORIES:
        for reference in result["categories"][category]["auditRefs"]:
            audit = result["audits"][reference["id"]]
            if reference["weight"] and audit["score"] is not None and audit["score"] < 1 and audit["id"] not in METRICS:
                items = (audit.get("details") or {}).get("items", [])
                nodes = [str((item.get("node") or item).get("snippet") or item)[:150] for item in items[:3]]
                lines += [f"  {category}: {audit['id']}: {audit['title']}", *(f"      {node}" for node in nodes)]
    return lines


def measure(addresses: dict[str, str], rounds: int, desktop: bool) -> dict[str, dict[str, float]]:
    """Return the medians of scores and metrics of each page; print what costs points."""
    results = {}
    for name, address in addresses.items():
        reports = [_lighthouse(address, desktop) for _ in range(rounds)]
        scores = [_scores(each) for each in reports]
        results[name] = {key: statistics.median(each[key] for each in scores) for key in scores[0]}
        sys.stdout.write("\n".join([f"{name}: {address}", *_failed(reports[-1])]) + "\n")
        sys.stdout.flush()
    return results


def main() -> None:
    """Measure and print."""
    options = read_options(
        __doc__,
        ("--site", {"metavar": "DIR", "help": "A site that was written before."}),
        ("--only", {"metavar": "NAMES", "help": f"Pages, of {', '.join([*PAGES, 'app'])}, with commas."}),
        ("--desktop", {"action": "store_true", "help": "As for a desktop computer."}),
    )
    names = options.only.split(",") if options.only else [*PAGES, "app"]
    with ExitStack() as stack:
        addresses = {}
        if set(names) & set(PAGES):
            site = Path(options.site or Path(stack.enter_context(tempfile.TemporaryDirectory())) / "site")
            if not options.site:
                write_small_site(site)
            start = stack.enter_context(served(site))
            addresses = {name: start + path for name, path in PAGES.items() if name in names}
        if "app" in names:
            addresses["app"] = f"{stack.enter_context(serving(APP))}/?lang=en"
        results = measure(addresses, options.rounds or (1 if options.quick else 3), options.desktop)
    header = ["page", *CATEGORIES, "FCP ms", "LCP ms", "TBT ms", "CLS"]
    rows = [[name, *values.values()] for name, values in results.items()]
    report("Lighthouse", header, rows, {"benchmark": "lighthouse", "pages": results}, options)


if __name__ == "__main__":
    main()
