"""Measure the pages of `headlight page`: their size, and the wait until one opened from the disk is drawn.

    python -m benchmarks.screen.page [--rounds 7]

Needs the development requirements and a Chromium (HEADLIGHT_CHROMIUM names another than Debian's). Seconds count from
the start of the navigation to two frames after the explorer or the scene has its data.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.machine import read_options, report
from benchmarks.screen.browser import browsing
from transformer_core.attention_maps import AttentionMaps
from transformer_core.cli import main as run_command
from viz_app.cli import PROGRAM
from viz_app.standalone.maps import render_maps

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SENTENCES = ["The old dog sleeps in the garden, and the cat eats a fish.", "A man rides a bicycle down the street."]
PAGES = {
    "sentence": ["--text", SENTENCES[0], "--branches", "1"],
    "sentences": [argument for text in SENTENCES for argument in ("--text", text)],
    "lesson": ["--lesson", "positions"],
}
FOREIGN_TOKENS = 40
_PAINTED = """
() => new Promise((resolve) => {
  const look = () => {
    const root = document.querySelector("main").shadowRoot?.firstChild;
    if (!(root?.explorer?.translation || root?.lesson?.lesson)) return requestAnimationFrame(look);
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() / 1000)));
  };
  look();
})
"""


def _foreign_page() -> bytes:
    """A sentence of FOREIGN_TOKENS tokens in a BERT of 24 layers and 16 heads, with random weights."""
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    config = BertConfig(num_hidden_layers=24, num_attention_heads=16, hidden_size=256, vocab_size=1000)
    model = BertModel._from_config(config, attn_implementation="eager").eval()
    with torch.inference_mode():
        outputs = model(torch.randint(0, 1000, (1, FOREIGN_TOKENS)), output_attentions=True)
    maps = AttentionMaps.from_transformers(outputs, [f"word{number}" for number in range(FOREIGN_TOKENS)])
    return render_maps({"a sentence": maps}, model="random weights")


def _open(browser: Browser, path: Path) -> float:
    """Seconds until a page is drawn, in a window without network."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, offline=True)
    page = context.new_page()
    page.goto(path.as_uri(), wait_until="commit")
    seconds = float(page.evaluate(_PAINTED))
    context.close()
    return seconds


def measure(rounds: int) -> dict[str, dict[str, float]]:
    """Size in MB, seconds to write, and median and best of the seconds to open, for each page."""
    results = {}
    with tempfile.TemporaryDirectory() as folder, browsing() as browser:
        for name, options in {**PAGES, "24 x 16 heads": None}.items():
            path = Path(folder) / f"{name}.html"
            started = time.monotonic()
            if options is None:
                path.write_bytes(_foreign_page())
            elif run_command(["page", "--checkpoint", "checkpoints/en-de", *options, "--out", str(path)], PROGRAM):
                raise SystemExit(f"the page {name} was not written")
            written = time.monotonic() - started
            times = [_open(browser, path) for _ in range(rounds)]
            results[name] = {
                "megabytes": path.stat().st_size / 1e6,
                "write": written,
                "open": statistics.median(times),
                "open_best": min(times),
            }
    return results


def main() -> None:
    """Measure and print."""
    options = read_options(__doc__)
    measurements = measure(options.rounds or (1 if options.quick else 7))
    header = ["page", "MB", "write s", "open s", "best s"]
    rows = [[name, *(f"{number:.2f}" for number in numbers.values())] for name, numbers in measurements.items()]
    report("pages without a server", header, rows, {"benchmark": "page", "pages": measurements}, options)


if __name__ == "__main__":
    main()
