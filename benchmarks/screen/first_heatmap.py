"""Measure the wait from the command to the first heatmap, and from the last key to painted heatmaps.

    python -m benchmarks.screen.first_heatmap [--rounds 10]

Needs the development requirements and a Chromium (HEADLIGHT_CHROMIUM names another than Debian's). Every number is
wall-clock time in a real browser; the model's own part is measured in this process with the same number of threads.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from typing import TYPE_CHECKING

from benchmarks.screen.browser import APP, ROOT, browsing, serving

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Sentences of fifteen words; the last one is typed last.
TOPICS = ["trains", "birds", "cats", "horses", "music", "stars", "trees", "ships", "bread", "snow", "maps", "tea"]
SENTENCES = [f"The old man who lives next door gave my sister a beautiful book about {topic}." for topic in TOPICS]
# Painted means: the explorer holds the translation of this sentence, and two more frames have passed.
_PAINTED = """
(root, before) => new Promise((resolve) => {
  const look = () => {
    const id = root.explorer?.translation?.id;
    if (id && id !== before) requestAnimationFrame(() => requestAnimationFrame(() => resolve(id)));
    else requestAnimationFrame(look);
  };
  look();
})
"""


def _typed(page: Page, sentence: str) -> float:
    """Seconds from the last key to painted heatmaps."""
    field = page.get_by_role("textbox").first
    explorer = page.locator(".explorer")  # a locator looks into the shadow root
    before = explorer.evaluate("(root) => root.explorer.translation.id")
    field.fill(sentence[:-2])
    page.wait_for_timeout(50)
    field.press("End")
    field.press_sequentially(sentence[-2:])
    started = time.monotonic()
    explorer.evaluate(_PAINTED, before)
    seconds = time.monotonic() - started
    page.wait_for_timeout(1000)
    return seconds


def _model_seconds(rounds: int) -> list[float]:
    """Translation and attention of the same sentences, on one thread."""
    import torch

    from transformer_core.translator import Translator

    torch.set_num_threads(1)
    translator = Translator.load(ROOT / "checkpoints" / "en-de")
    times = []
    for sentence in SENTENCES[: rounds + 1]:
        started = time.monotonic()
        assert translator.translate(sentence).attention.cross.size
        times.append(time.monotonic() - started)
    return times[1:]  # the first one warms up


def measure(rounds: int) -> dict[str, float]:
    """All numbers in seconds; medians where there are several rounds."""
    with browsing() as browser:
        started = time.monotonic()
        with serving(APP) as address:
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            page.goto(address)
            page.locator(".explorer").evaluate(_PAINTED, "")
            cold = time.monotonic() - started
            page.wait_for_timeout(2000)
            typed = [_typed(page, sentence) for sentence in SENTENCES[:rounds]]
    return {
        "command_to_first_heatmap": cold,
        "last_key_to_heatmaps": statistics.median(typed),
        "last_key_to_heatmaps_slowest": max(typed),
        "model": statistics.median(_model_seconds(rounds)),
    }


def main() -> None:
    """Print a table, then one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10, choices=range(1, len(SENTENCES)), metavar="N")
    results = measure(parser.parse_args().rounds)
    for name, seconds in results.items():
        sys.stdout.write(f"{name:32s} {seconds:7.2f} s\n")
    sys.stdout.write(json.dumps({name: round(seconds, 3) for name, seconds in results.items()}) + "\n")


if __name__ == "__main__":
    main()
