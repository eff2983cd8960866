"""Measure a page of `headlight page --live`: its size, and the wait from typing to the maps and to the flow.

    python -m benchmarks.screen.live_page [--checkpoint DIR ...] [--rounds 3]

Each sentence has about twelve words and is typed at once, for the first time in its page. Seconds count to two
frames after the explorer has its data; 0.06 s of them the page waits for the next key. The first sentence of a page
waits for the weights too and is given alone. `row` is the wait for the first row of the maps, at most that for all.
`compared` is the wait from comparing the sixth token with another to its flow. Needs the development requirements and
a Chromium.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.machine import read_options, report
from benchmarks.screen.browser import browsing
from transformer_core.cli import main as run_command
from transformer_core.storage.bundled_models import find_checkpoint
from viz_app.cli import PROGRAM

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SENTENCES = (
    "The old dog sleeps in the garden, and the cat eats a fish.",
    "A young man with a red hat rides his bicycle to school today.",
    "My sister bought three new books in the small shop near here.",
    "We will go to the beach tomorrow if the weather is good.",
    "He did not know that his friend had moved to another city.",
    "She said that she would come back to the house before night.",
    "The train to Paris leaves at seven in the morning every day.",
    "I think that you should talk to your mother about the problem.",
    "Nobody could find the key, so they slept in the old car.",
    "There are many people in the street because the shops are open.",
)
_TYPED = """
(text) => new Promise((resolve) => {
  const within = (root) => [...root.querySelectorAll("*")].flatMap((each) =>
    each.shadowRoot ? [each, ...within(each.shadowRoot)] : [each]);
  const field = within(document).find((each) => each.matches("input:not([type=range]), textarea"));
  const root = within(document).find((each) => each.explorer);
  const start = performance.now();
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  const until = (there) => new Promise((resolve) => {
    const look = () => {
      if (!there()) return setTimeout(look, 2);
      requestAnimationFrame(() => requestAnimationFrame(() => resolve((performance.now() - start) / 1000)));
    };
    look();
  });
  const findings = () => globalThis[Symbol.for("headlight.findings")].get(undefined) ?? {};
  const run = async () => {
    let row = null;
    const typed = await until(() => {
      if (root.explorer.draft) row ??= (performance.now() - start) / 1000;
      return root.explorer.translation?.about?.text === text;
    });
    const flow = await until(() => findings().flow?.source === text);
    const [, [[versus]]] = root.explorer.translation.steps[5];
    const before = (performance.now() - start) / 1000;
    root.explorer.store.set({ kind: "cross", pin: "q5", versus });
    const compared = await until(() => findings().contrast?.source === text) - before;
    root.explorer.store.set({ pin: null, versus: null });
    resolve([row ?? typed, typed, flow, compared]);
  };
  run();
})
"""


def _typed(browser: Browser, path: Path, count: int) -> list[list[float]]:
    """Seconds to the first row, maps and flow, and of a comparison, by sentence, in a window without network."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, offline=True)
    page = context.new_page()
    page.goto(path.as_uri())
    page.locator(".tile canvas").first.wait_for()
    waits: list[list[float]] = [page.evaluate(_TYPED, text) for text in SENTENCES[:count]]
    context.close()
    return waits


def measure(checkpoints: list[str], rounds: int, count: int) -> dict[str, dict[str, float]]:
    """Size in MB, its ratio to the weights, and seconds: the first sentence; of the others medians and the longest."""
    results = {}
    with tempfile.TemporaryDirectory() as folder, browsing() as browser:
        for checkpoint in checkpoints:
            source, path = Path(find_checkpoint(checkpoint)), Path(folder) / f"{Path(checkpoint).name}.html"
            if run_command(["page", "--live", "--checkpoint", str(source), "--out", str(path)], PROGRAM):
                raise SystemExit(f"the page of {checkpoint} was not written")
            runs = [_typed(browser, path, count) for _ in range(rounds)]
            row, later, flow, compared = zip(*(seconds for run in runs for seconds in run[1:]), strict=True)
            size = path.stat().st_size
            results[source.name] = {
                "megabytes": size / 1e6,
                "times_weights": size / sum(each.stat().st_size for each in source.glob("*.safetensors")),
                "first": statistics.median(run[0][1] for run in runs),
                "row": statistics.median(row),
                "typed": statistics.median(later),
                "longest": max(later),
                "flow": statistics.median(flow),
                "compared": statistics.median(compared),
            }
    return results


def main() -> None:
    """Measure and print."""
    options = read_options(
        __doc__,
        ("--checkpoint", {"nargs": "+", "metavar": "DIR", "default": ["en-fr-small", "en-de"], "help": "Translators."}),
    )
    count = 3 if options.quick else len(SENTENCES)
    measurements = measure(options.checkpoint, options.rounds or (1 if options.quick else 3), count)
    header = ["page", "MB", "x weights", "first s", "row s", "typed s", "longest s", "flow s", "compared s"]
    rows = [[name, *(f"{number:.2f}" for number in numbers.values())] for name, numbers in measurements.items()]
    report("pages that translate", header, rows, {"benchmark": "live_page", "pages": measurements}, options)


if __name__ == "__main__":
    main()
