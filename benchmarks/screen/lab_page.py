"""Measure the wait for each bench of the Lab, from the press to the numbers on the screen.

    python -m benchmarks.screen.lab_page [--sentence TEXT] [--rounds N] [--quick]

In a browser, on a new sentence: each round has a name of its own in it, so that nothing is
remembered. A bench is opened from the bench before; the row of AttentionOverride is changed while it is open.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from benchmarks.machine import read_options, report
from benchmarks.screen.browser import APP, browsing, serving

if TYPE_CHECKING:
    from playwright.sync_api import Locator

SENTENCE = "{name} in a blue shirt is standing on a tall ladder."  # 11 words and the full stop
NAMES = ["Anna", "Peter", "Maria", "Tom", "Jane", "Paul", "Lisa", "Mark", "Emma"]
AIMS = {"off": 1.5, "redirect": 0.5, "depth": 0.7, "trace": 2.0, "swap": 3.0}
BENCHES = ("off", "parts", "redirect", "trace", "flow", "depth", "early", "swap", "circuit", "why", "cumulative")
_READY = "({ lesson }) => Boolean(lesson.scene.own && !lesson.scene.waits(lesson.settings()))"
_LONGEST = 120  # seconds


def _seconds(root: Locator, action: str) -> float:
    """From an action to its numbers."""
    started = time.perf_counter()
    root.evaluate(f"({{ lesson }}) => {{ {action} }}")
    while not root.evaluate(_READY):
        if time.perf_counter() - started > _LONGEST:
            raise SystemExit(f"no answer to {action}")
        time.sleep(0.01)
    return time.perf_counter() - started


def measure(options: argparse.Namespace) -> dict[str, list[float]]:
    """Seconds of each round, by bench."""
    seconds: dict[str, list[float]] = {bench: [] for bench in [*BENCHES, "redirect, a change"]}
    with browsing() as browser, serving(APP) as address:
        for name in NAMES[: options.rounds]:
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            text = options.sentence.replace("{name}", name)
            # This one includes the translation, and drawing the page for the first time.
            page.goto(f"{address}/lab?{urlencode({'scene': 'early', 'text': text, 'lang': 'en'})}")
            root = page.locator(".lesson").first
            root.wait_for()
            seconds["early"].append(_seconds(root, ""))
            time.sleep(1)
            for bench in BENCHES:
                if bench != "early":
                    seconds[bench].append(_seconds(root, f"lesson.go('{bench}')"))
                    time.sleep(0.5)
            _seconds(root, "lesson.go('redirect')")
            change = "lesson.set({ edits: lesson.scene.edited(lesson.settings(), 'o1') })"
            seconds["redirect, a change"].append(_seconds(root, change))
            page.close()
    return seconds


def main() -> None:
    """Print a table, then one line of JSON."""
    options = read_options(
        __doc__,
        ("--sentence", {"default": SENTENCE, "metavar": "TEXT", "help": "{name} is another in each round."}),
    )
    options.rounds = 1 if options.quick else min(options.rounds, len(NAMES))
    measurements = measure(options)
    rows = [
        [bench, statistics.median(seconds), max(seconds), AIMS.get(bench.partition(",")[0], "-")]
        for bench, seconds in measurements.items()
    ]
    answer = {"seconds": {bench: statistics.median(seconds) for bench, seconds in measurements.items()}}
    report("From the press to the numbers", ["bench", "median s", "worst s", "aim s"], rows, answer, options)


if __name__ == "__main__":
    main()
