"""The lessons in a real browser: frames a second while a scene plays, time until a lesson can be used, controls.

    python -m benchmarks.lessons [--quick] [--lessons positions masks] [--seconds 3] [--rounds 3]

Needs the development requirements and a Chromium, here with software rendering. The server is warm: one lesson was
opened before. All times are wall-clock.

* frames: of every scene with a playhead, while it plays for so many seconds: frames a second, and the share of gaps
  between two frames that are longer than 20 ms (50 frames a second).
* usable: from opening the address of the lesson, in a fresh tab of a browser that has seen the app, until its stage has
  painted; the median of the rounds.
* control: from a press on a control of the browser until the second frame after it, the median over all controls of all
  scenes that need no server.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import TYPE_CHECKING, Any

from benchmarks.browser import APP, FLAGS, chromium, serving, wait_until_up
from benchmarks.machine import describe, machine_options, prepare, report

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

SLOW = 20.0  # milliseconds between two frames
_FIND = """() => {
  const search = (node) => {
    const found = node.querySelector(".lesson");
    if (found) return found;
    for (const each of node.querySelectorAll("*")) {
      const inside = each.shadowRoot && search(each.shadowRoot);
      if (inside) return inside;
    }
    return null;
  };
  const root = search(document);
  window.stage = root?.lesson?.theme && root.lesson.stage.width > 0 ? root.lesson : null;
  return Boolean(window.stage);
}"""
_PLAY = """(milliseconds) => new Promise((resolve) => {
  const { stage } = window.stage;
  const { playhead } = stage.scene;
  window.stage.set({ [playhead.name]: playhead.min });
  stage.play();
  setTimeout(() => { const { frames } = stage; stage.pause(); resolve([...frames]); }, milliseconds);
})"""
_CONTROLS = """async () => {
  const lesson = window.stage;
  const times = [];
  const twoFrames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  for (const { name, kind, options, min, max, server } of lesson.scenes[lesson.name].controls) {
    if (server || !["range", "choice", "switch"].includes(kind)) continue;
    const other = kind === "range" ? (min + max) / 2 : kind === "choice" ? options.at(-1)[0] : true;
    const start = performance.now();
    lesson.set({ [name]: other });
    await twoFrames();
    times.push(performance.now() - start);
  }
  return times;
}"""


def main() -> None:
    """Measure and print."""
    options = _options()
    prepare(options)
    from playwright.sync_api import sync_playwright

    from viz_app.lessons import lesson
    from viz_app.services.lessons import LESSONS

    names = options.lessons or [entry.name for entry in LESSONS][: 1 if options.quick else None]
    rows: list[list[object]] = []
    found: dict[str, Any] = {}
    with serving(APP) as address, sync_playwright() as playwright:
        wait_until_up(address)
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        context = browser.new_context(viewport={"width": 1280, "height": 720})
        _opened(context, address, names[0])[0].close()
        for name in names:
            opened = [_opened(context, address, name) for _ in range(options.rounds)]
            usable = statistics.median(seconds for _, seconds in opened)
            page = opened[-1][0]
            scenes = [scene.name for scene in lesson(name, "en").scenes]
            frames, controls = _scenes(page, scenes, options.seconds)
            for other, _ in opened:
                other.close()
            found[name] = {"usable_s": usable, "control_ms": controls, "frames": frames}
            rates = [rate for rate, _ in frames.values()]
            slow = [share for _, share in frames.values()]
            worst = [f"{min(rates):.0f}", f"{100 * max(slow):.0f} %"] if rates else ["-", "-"]
            rows.append([name, len(frames), *worst, f"{usable:.2f}", f"{controls:.0f}" if controls else "-"])
        browser.close()
    header = ["lesson", "scenes that play", "frames/s, worst", "gaps > 20 ms, worst", "usable s", "control ms"]
    report("lessons", header, rows, {"benchmark": "lessons", "lessons": found, "machine": describe(options)})


def _opened(context: BrowserContext, address: str, name: str) -> tuple[Page, float]:
    """A lesson in a new tab, and the seconds until its stage has painted."""
    page = context.new_page()
    started = time.perf_counter()
    page.goto(f"{address}/lessons?lesson={name}&lang=en")
    page.wait_for_function(_FIND, timeout=60_000)
    return page, time.perf_counter() - started


def _scenes(page: Page, scenes: list[str], seconds: float) -> tuple[dict[str, tuple[float, float]], float | None]:
    """Of each scene that plays its frames a second and the share of slow ones; the median time of a control."""
    frames: dict[str, tuple[float, float]] = {}
    controls: list[float] = []
    for scene in scenes:
        page.evaluate("(name) => window.stage.go(name)", scene)
        page.wait_for_timeout(300)
        controls += page.evaluate(_CONTROLS)
        if not page.evaluate("Boolean(window.stage.stage.scene.playhead)"):
            continue
        gaps = page.evaluate(_PLAY, 1000 * seconds)
        if gaps:
            frames[scene] = (1000 / statistics.mean(gaps), sum(gap > SLOW for gap in gaps) / len(gaps))
    return frames, statistics.median(controls) if controls else None


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    machine_options(parser)
    parser.add_argument("--lessons", nargs="*", help="which; all unless given")
    parser.add_argument("--seconds", type=float, default=3.0, help="for which each scene plays")
    options = parser.parse_args()
    options.rounds = options.rounds or (1 if options.quick else 3)
    return options


if __name__ == "__main__":
    main()
