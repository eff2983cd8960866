"""Measure what the page of a translator takes of the memory: opened, with its model, and after sentences.

    python -m benchmarks.screen.site_memory --site DIR [--model en-fr-small ...] [--rounds 5]

Megabytes that the page's process shares with no other (`Private_Clean` and `Private_Dirty` of /proc/PID/smaps_rollup),
in a new Chromium each time. No developer tools are attached, which would keep copies of what is loaded, and no
collection of garbage is asked for. `loaded` is a second after the model is there, `rested` half a minute later, `typed`
after three sentences of 12 words with their flow. A script that the server adds to the page presses and types. Needs
Linux.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from benchmarks.machine import read_options, report
from benchmarks.screen.browser import FLAGS, chromium
from benchmarks.screen.live_page import SENTENCES

STAGES = ("open", "loaded", "rested", "typed")
VISIT = """
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const until = async (there) => { while (!there()) await pause(50); };
const one = (selector) => document.querySelector(selector);
const find = (root) => [...root.querySelectorAll("*")].flatMap((each) => each.shadowRoot
  ? [each, ...find(each.shadowRoot)] : [each]);
const tell = (stage) => fetch(`/at?stage=${stage}`);
await until(() => one(".live-line > button") && find(document).some((each) => each.matches(".tile canvas")));
await pause(2000);
await tell("open");
one(".live-line > button").click();
await until(() => one(".live-line label").hidden && one(".live-line > button").hidden);
await pause(1000);
await tell("loaded");
await pause(REST);
await tell("rested");
const findings = () => globalThis[Symbol.for("headlight.findings")].get(undefined) ?? {};
for (const text of SENTENCES) {
  one(".live-text").value = text;
  one(".live-text").dispatchEvent(new Event("input"));
  await until(() => findings().flow?.source === text);
  await pause(1000);
}
await tell("typed");
"""


class _Visit:
    """One visit of a page, which tells the server where it is."""

    def __init__(self, site: Path, rest: int) -> None:
        self.site, self.rest = site, rest
        self.process: subprocess.Popen[bytes] | None = None
        self.megabytes: dict[str, float] = {}
        self.done = threading.Event()

    def script(self) -> str:
        """Return what the page runs."""
        return VISIT.replace("SENTENCES", repr([*SENTENCES[:3]])).replace("REST", str(1000 * self.rest))

    def reached(self, stage: str) -> None:
        """Measure the largest process of a page."""
        assert self.process is not None
        self.megabytes[stage] = max(map(_private, _renderers(self.process.pid)))
        if stage == STAGES[-1]:
            self.done.set()


class _Handler(SimpleHTTPRequestHandler):
    def __init__(self, *arguments: Any, visit: _Visit, **options: Any) -> None:
        self.visit = visit
        super().__init__(*arguments, directory=str(visit.site), **options)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        file = Path(self.translate_path(address.path))
        if address.path == "/at":
            self.visit.reached(parse_qs(address.query)["stage"][0])
            self._answer(b"", "text/plain")
        elif address.path == "/visit.js":
            self._answer(self.visit.script().encode(), "text/javascript")
        elif file.suffix == ".html" and file.is_file():
            self._answer(file.read_bytes() + b'<script type="module" src="/visit.js"></script>', "text/html")
        else:
            super().do_GET()

    def _answer(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _renderers(browser: int) -> list[int]:
    """Return the processes of pages below a browser."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(entry.parent.name)] = int(entry.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has ended
    below = {browser}
    while more := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= more
    return [pid for pid in below if b"--type=renderer" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def _private(pid: int) -> float:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0  # it has ended
    return sum(1024 * int(size) for size in re.findall(r"Private_\w+:\s+(\d+) kB", text)) / 1e6


def _visited(site: Path, model: str, rest: int) -> dict[str, float]:
    """Return megabytes by stage."""
    visit = _Visit(site, rest)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, visit=visit))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        address = f"http://127.0.0.1:{server.server_port}/en/model-{model}.html"
        flags = [*FLAGS, "--headless=new", "--window-size=1280,800", "--no-first-run", f"--user-data-dir={profile}"]
        visit.process = subprocess.Popen(
            [chromium(), *flags, address], env={**os.environ}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            if not visit.done.wait(300 + rest):
                raise SystemExit(f"{model}: the page came only to {', '.join(visit.megabytes) or 'nothing'}")
        finally:
            visit.process.terminate()
            visit.process.wait(timeout=20)
            server.shutdown()
    return visit.megabytes


def main() -> None:
    """Measure and print."""
    options = read_options(
        __doc__,
        ("--site", {"metavar": "DIR", "required": True, "help": "A site of `headlight site`."}),
        ("--model", {"nargs": "+", "metavar": "NAME", "default": ["en-fr-small", "en-de"], "help": "Translators."}),
    )
    rounds = options.rounds or (1 if options.quick else 5)
    measurements: dict[str, dict[str, float]] = {}
    for model in options.model:
        visits = [_visited(Path(options.site), model, 2 if options.quick else 30) for _ in range(rounds)]
        measurements[model] = {stage: statistics.median(each[stage] for each in visits) for stage in STAGES}
        measurements[model]["largest"] = max(max(each.values()) for each in visits)
    rows = [[model, *(f"{value:.0f}" for value in each.values())] for model, each in measurements.items()]
    header = ["MB", *STAGES, "largest"]
    report("Memory of a translator's page", header, rows, {"benchmark": "site_memory", "pages": measurements}, options)


if __name__ == "__main__":
    main()
