"""Measure the lessons in a real browser: frames a second while a scene plays, time to use a lesson, controls.

    python -m benchmarks.screen.lessons [--quick] [--lessons positions masks] [--seconds 3] [--rounds 3]

Needs the development requirements and a Chromium, here with software rendering. The server is warm: one lesson was
opened before. All times are wall-clock.

* frames: of every scene with a playhead, while it plays for --seconds: frames a second, and the share of gaps
  between two frames that are longer than 20 ms (50 frames a second). The table shows the worst scene.
* usable: from a press on the lesson in the index until its stage has painted; the median of the rounds.
* control: from a press on a control of the browser until the second frame after it; of each control the median of the
  rounds, of all controls of all scenes the slowest.
* model: the same for controls that ask the model, until its answer is there.
"""

from __future__ import annotations

import re
import statistics
import time
from typing import TYPE_CHECKING, Any

from benchmarks.machine import read_options, report
from benchmarks.screen.browser import APP, browsing, serving

if TYPE_CHECKING:
    from playwright.sync_api import Page

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
# Each control is moved to and fro; the times of those that ask the model end when the answer is there.
_CONTROLS = """async (rounds) => {
  const lesson = window.stage;
  const receive = lesson.receive;
  const found = [];
  const twoFrames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const answered = () => new Promise((done, failed) => {
    const timer = setTimeout(() => failed(new Error("no answer within 20 s")), 20000);
    lesson.receive = (data) => { receive.call(lesson, data); clearTimeout(timer); done(); };
  });
  for (const { name, kind, options, min, max, server } of lesson.scenes[lesson.name].controls) {
    if (!["range", "choice", "switch"].includes(kind)) continue;
    const before = lesson.settings()[name];
    const ends = { range: [min, max], choice: [options?.[0][0], options?.at(-1)[0]], switch: [true, false] }[kind];
    const other = ends.find((each) => each !== before);
    const times = [];
    for (let round = 0; round < rounds; round += 1) {
      const start = performance.now();
      const done = server ? answered() : twoFrames();
      lesson.set({ [name]: round % 2 ? before : other });
      await done;
      times.push(performance.now() - start);
      await new Promise((rest) => setTimeout(rest, server ? 600 : 30));
    }
    lesson.receive = receive;
    found.push([name, Boolean(server), times]);
  }
  return found;
}"""


def main() -> None:
    """Measure and print."""
    options = read_options(
        __doc__,
        ("--lessons", {"nargs": "*", "help": "which; all unless given"}),
        ("--seconds", {"type": float, "default": 3.0, "help": "for which each scene plays"}),
    )
    options.rounds = options.rounds or (1 if options.quick else 3)
    from viz_app.lessons import load_lesson
    from viz_app.lessons.catalogue import LESSONS

    names = options.lessons or [entry.name for entry in LESSONS][: 1 if options.quick else None]
    rows: list[list[object]] = []
    measurements: dict[str, Any] = {}
    with serving(APP) as address, browsing() as browser:
        page = browser.new_context(viewport={"width": 1280, "height": 720}).new_page()
        page.set_default_timeout(60_000)
        page.goto(f"{address}/lessons?lang=en")
        _open(page, load_lesson(names[0], "en").title)
        for name in names:
            words = load_lesson(name, "en")
            usable = statistics.median(_open(page, words.title) for _ in range(options.rounds))
            frames, controls = _scenes(page, [scene.name for scene in words.scenes], options.seconds, options.rounds)
            here = {where: seconds for where, (server, seconds) in controls.items() if not server}
            there = {where: seconds for where, (server, seconds) in controls.items() if server}
            measurements[name] = {"usable_s": usable, "control_ms": here, "model_ms": there, "frames": frames}
            rates = [rate for rate, _ in frames.values()]
            slow = [share for _, share in frames.values()]
            worst = [f"{min(rates):.0f}", f"{100 * max(slow):.0f} %"] if rates else ["-", "-"]
            slowest = [f"{max(times.values()):.0f}" if times else "-" for times in (here, there)]
            rows.append([name, len(frames), *worst, f"{usable:.2f}", *slowest])
    header = ["lesson", "scenes that play", "frames/s, worst", "gaps > 20 ms, worst"]
    header += ["usable s", "control ms", "model ms"]
    report("lessons", header, rows, {"benchmark": "lessons", "lessons": measurements}, options)


def _open(page: Page, title: str) -> float:
    """Open a lesson from the index; the seconds from the press until its stage has painted."""
    page.locator(".index, .st-key-all-lessons").first.wait_for()
    _rest(page)
    if not page.locator(".index").count():
        page.locator(".st-key-all-lessons button").click()
    stop = page.locator(".index button.stop").filter(
        has=page.locator(".title", has_text=re.compile(f"^{re.escape(title)}$"))
    )
    stop.first.wait_for()
    _rest(page)
    started = time.perf_counter()
    stop.first.click()
    page.wait_for_function(_FIND)
    return time.perf_counter() - started


def _rest(page: Page) -> None:
    """Wait until nothing runs, so that of two pages the one that leaves is gone."""
    page.wait_for_timeout(500)
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for(state="attached")
    page.wait_for_timeout(500)


def _scenes(
    page: Page, scenes: list[str], seconds: float, rounds: int
) -> tuple[dict[str, tuple[float, float]], dict[str, tuple[bool, float]]]:
    """Measure the scenes of a lesson.

    Returns:
        Of each scene that plays its frames a second and the share of slow ones; of each control, named by scene and
        control, whether it asks the model, and the median milliseconds until it has answered.
    """
    frames: dict[str, tuple[float, float]] = {}
    controls: dict[str, tuple[bool, float]] = {}
    for scene in scenes:
        page.evaluate("(name) => window.stage.go(name)", scene)
        page.wait_for_timeout(1_000)
        for name, server, times in page.evaluate(_CONTROLS, rounds):
            controls[f"{scene}.{name}"] = (server, statistics.median(times))
        if not page.evaluate("Boolean(window.stage.stage.scene.playhead)"):
            continue
        gaps = page.evaluate(_PLAY, 1000 * seconds)
        if gaps:
            frames[scene] = (1000 / statistics.mean(gaps), sum(gap > SLOW for gap in gaps) / len(gaps))
    return frames, controls


if __name__ == "__main__":
    main()
