"""Measure the wait in the app from the last key of a new sentence to the first row of its maps, and to all of them.

    python -m benchmarks.screen.first_row [--rounds 10] [--words 12 50] [--old DIR]

Sentences of 12 and 50 words, each for the first time: of some only the last letter is typed, after a pause, of others
the last two words, at 8 keys a second. Seconds count from the last key to the frame after the explorer has a row:
`sent` is when the browser sends the text, and `answered` when it has the draft. `work` is the CPU time of the server
for all that is typed, with a second afterwards. All are medians; `best` is the least wait for a row. `--old` names
another checkout of this repository, which takes turns with this one. On a busy machine `chrt -r 1` before the command
keeps others out. Needs the development requirements and a Chromium.
"""

from __future__ import annotations

import statistics
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.machine import read_options, report
from benchmarks.screen.browser import APP, ROOT, browsing, server
from benchmarks.screen.first_heatmap import TOPICS
from benchmarks.server.visitor import processor_seconds

if TYPE_CHECKING:
    from playwright.sync_api import Page

OPENINGS = {
    12: "My older sister has bought our little brother books about",
    50: "The old man who lives next door gave my sister a beautiful book because she had helped him in the garden when "
    "he was ill, and now she reads it every evening before she goes to bed, while her brother in the kitchen sings a "
    "song about",
}
KEY_MILLISECONDS = 125  # between two keys
MANNERS = ("one key", "fluent")
STEPS = ("sent", "answered", "row", "maps")
_WATCH = """
() => {
  const times = (globalThis.firstRow = {});
  addEventListener("keydown", (event) => { if (event.isTrusted) times.key = performance.now(); }, true);
  const { send } = WebSocket.prototype;
  WebSocket.prototype.send = function (data) {
    if (data?.length > 40) times.sent = performance.now();
    return send.call(this, data);
  };
}
"""
_SHOWN = """
(root, [before, text]) => {
  const times = globalThis.firstRow;
  const since = (at) => (at - times.key) / 1000;
  let sent, answered, row;
  times.shown = new Promise((resolve) => {
    const look = () => {
      const { draft, translation } = root.explorer;
      const whole = translation.id !== before && translation.about?.text === text;
      const source = draft?.axes.source.tokens.slice(0, -1).join("").replaceAll("\\u2581", " ") ?? "";
      if (!answered && (whole || (source.trim() === text && draft.written))) {
        [sent, answered] = [times.sent, performance.now()];
        requestAnimationFrame(() => { row = performance.now(); });
      }
      if (whole && row) resolve([sent, answered, row, performance.now()].map(since));
      else setTimeout(look, 2);
    };
    look();
  });
}
"""
_WAIT_FOR_OTHER = """
(root, before) => new Promise((resolve) => {
  const look = () => (root.explorer.translation.id !== before ? resolve(true) : setTimeout(look, 50));
  look();
})
"""


def _typed(page: Page, pid: int, words: int, topic: str, fluent: bool) -> list[float]:
    """Seconds to each of STEPS, and of work."""
    sentence = f"{OPENINGS[words]} {'some' if fluent else 'many'} {topic}"
    typed = len(topic) + 6 if fluent else 1
    field, explorer = page.locator(".st-key-text").get_by_role("textbox"), page.locator(".explorer")
    before = explorer.evaluate("(root) => root.explorer.translation.id")
    field.fill(sentence[:-typed])
    explorer.evaluate(_WAIT_FOR_OTHER, before)
    page.wait_for_timeout(4000)  # until its flow is there, too
    before, work = explorer.evaluate("(root) => root.explorer.translation.id"), processor_seconds(pid)
    explorer.evaluate(_SHOWN, [before, sentence])
    field.press("End")
    field.press_sequentially(sentence[-typed:], delay=KEY_MILLISECONDS)
    seconds: list[float] = page.evaluate("() => globalThis.firstRow.shown")
    page.wait_for_timeout(1000)
    return [*seconds, processor_seconds(pid) - work]


def measure(rounds: int, checkouts: dict[str, Path], lengths: list[int]) -> dict[str, dict[str, list[float]]]:
    """Return the median seconds of each step and of work, and the best of a row, by checkout and what is typed."""
    manners = {f"{words} words, {manner}": (words, manner == "fluent") for words in lengths for manner in MANNERS}
    times: dict[str, dict[str, list[list[float]]]] = {name: {each: [] for each in manners} for name in checkouts}
    with ExitStack() as stack:
        browser = stack.enter_context(browsing())
        pages = {}
        for name, root in checkouts.items():
            address, pid = stack.enter_context(server(root / APP.relative_to(ROOT), root))
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            page.add_init_script(f"({_WATCH})()")
            page.goto(address)
            page.locator(".explorer canvas").first.wait_for(timeout=120_000)
            page.wait_for_timeout(5000)
            pages[name] = page, pid
        for topic in TOPICS[: rounds + 1]:
            for manner, (words, fluent) in manners.items():
                for name, (page, pid) in pages.items():
                    times[name][manner].append(_typed(page, pid, words, topic, fluent))
    return {name: {each: _summary(rows[1:]) for each, rows in of.items()} for name, of in times.items()}


def _summary(rows: list[list[float]]) -> list[float]:
    columns = list(zip(*rows, strict=True))
    return [*map(statistics.median, columns), min(columns[STEPS.index("row")])]


def main() -> None:
    """Measure and print."""
    words = {"type": int, "nargs": "+", "default": list(OPENINGS), "choices": list(OPENINGS), "help": "Of a sentence."}
    old = {"metavar": "DIR", "type": Path, "help": "An older checkout."}
    options = read_options(__doc__, ("--words", words), ("--old", old))
    checkouts = {"new": ROOT} | ({"old": options.old.resolve()} if options.old else {})
    measurements = measure(options.rounds or (1 if options.quick else 10), checkouts, options.words)
    header = ["checkout", "typed", *(f"{step} s" for step in STEPS), "work s", "best row s"]
    rows = [[name, typed, *each] for name, steps in measurements.items() for typed, each in steps.items()]
    report("from the last key to the maps", header, rows, {"benchmark": "first_row", **measurements}, options)


if __name__ == "__main__":
    main()
