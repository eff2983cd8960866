"""The attention explorer in a real browser: bytes, time to visible, switches, DOM; beside it BertViz' model view.

    python -m benchmarks.explorer [--quick] [--tokens 20 50 200 512] [--rounds 5]
    python -m benchmarks.explorer --layers 24 --heads 16 --tokens 13 50 100 200      the explorer alone

Needs the development requirements and a Chromium. All times are medians of wall-clock time inside the page, motion
reduced (otherwise a new sentence takes 0.2 s to fade in):

* visible: from the click on the button that shows another translation, computed and packed before, to the second frame
  after all heads are painted; checked pixel by pixel that every tile holds a picture.
* kind, layer, head: from the click to the second frame after it, map and tiles both drawn anew.
* page: the page Translate with real sentences of as many tokens, from Enter on; `cached` when another session has asked
  for the same sentence before, `translated` when the model has to translate it first. Its translations are shorter
  than their sentences, the more so the longer these are.
* BertViz: its model view as the app shows it, in a frame, from the click on a button of the same kind to the second
  frame after it is loaded; the document is made before, with weights rounded to 4 decimals and its scripts inlined.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from benchmarks.machine import read_options, report
from benchmarks.screen.browser import APP, ROOT, browsing, serving
from viz_app.components.explorer.selection import VIEWS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, CDPSession, Page

PAGE = Path(__file__).with_name("screen") / "explorer_page.py"
SHIPPED = {"layers": 6, "heads": 8, "view": "kinds"}
BERTVIZ_MAX = 200  # tokens; beyond, the document is larger than a browser opens in minutes
BERTVIZ_SECONDS = 150
KINDS = ("encoder", "decoder", "cross")
CLAUSES = (
    "the old man who lives next door gave my sister a beautiful book about trains",
    "we have not seen our friends since last summer",
    "the little dog is playing in the garden",
    "she is waiting for the bus at the station",
    "he bought a new tennis racket for his brother",
)
# Another translation is there, and two more frames have passed.
_SHOWN = """
const shown = (root, before, start) => new Promise((resolve) => {
  const look = () => {
    const id = root.explorer?.translation?.id;
    if (!id || id === before) return requestAnimationFrame(look);
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - start())));
  };
  look();
});
"""
_CLICK = f"""(root, label) => {{ {_SHOWN}
  const button = [...document.querySelectorAll("button")].find((one) => one.textContent.trim() === label);
  const before = root.explorer.translation.id;
  const start = performance.now();
  button.click();
  return shown(root, before, () => start);
}}"""
_ENTERED = f"(root, before) => {{ {_SHOWN} return shown(root, before, () => window.enteredAt); }}"
_NOTE_ENTER = """() => document.addEventListener("keydown", (event) => {
  if (event.key === "Enter") window.enteredAt = performance.now();
}, true)"""
_SWITCH = """(root, patch) => new Promise((resolve) => {
  const start = performance.now();
  const { kind } = patch;
  if (kind) root.querySelector(`.kind-${kind}`).click();
  else root.explorer.store.set(patch);
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - start)));
})"""
_PICTURES = """(root) => [...root.querySelectorAll(".tile canvas")].filter((canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const pixels = new Uint32Array(data.buffer);
  return pixels.some((pixel) => pixel !== pixels[0]);
}).length"""
# In every document: when its second frame after loading was painted.
_NOTE_PAINTED = """addEventListener("load", () => requestAnimationFrame(() => requestAnimationFrame(() => {
  window.paintedAt = performance.timeOrigin + performance.now();
})))"""
_CLICK_BERTVIZ = """() => {
  const button = [...document.querySelectorAll("button")].find((one) => one.textContent.trim() === "show bertviz");
  const start = performance.timeOrigin + performance.now();
  button.click();
  return start;
}"""


def sentence(tokens: Callable[[str], int], length: int, number: int) -> str:
    """Return an English sentence of at most `length` tokens that begins with its number."""
    text = f"Number {number}"
    for clause in (CLAUSES * (1 + length // 8))[number % len(CLAUSES) :]:
        for word in f", and {clause}".replace(" ,", ",").split(" "):
            longer = f"{text} {word}" if word != "," else f"{text},"
            if tokens(f"{longer}.") > length:
                return f"{text}."
            text = longer
    return f"{text}."


def _open(browser: Browser, address: str, *, listen: Callable[[str | bytes], None] | None = None) -> Page:
    """A page with an explorer, in a profile of its own."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    context.set_default_timeout(120_000)
    page = context.new_page()
    if listen is not None:
        page.on("websocket", lambda socket: socket.on("framereceived", listen))
    page.goto(address)
    page.locator(".explorer .tile").first.wait_for()
    page.wait_for_timeout(1_000)
    return page


def _wire(browser: Browser, address: str) -> int:
    """Bytes that the browser receives after the click, in a run of its own: listening costs time."""
    sizes: list[int] = []
    page = _open(browser, address, listen=lambda payload: sizes.append(len(payload)))
    sizes.clear()
    page.locator(".explorer").evaluate(_CLICK, "show next")
    page.context.close()
    return sum(sizes)


def _memory(page: Page) -> dict[str, float]:
    """Megabytes of JavaScript objects and of the buffers that these hold."""
    session: CDPSession = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    usage: dict[str, float] = session.send("Runtime.getHeapUsage")
    return {"heap_mb": usage["usedSize"] / 1e6, "buffers_mb": usage.get("backingStorageSize", 0.0) / 1e6}


def _switches(page: Page, rounds: int, view: object) -> dict[str, float]:
    """Milliseconds from click to painted."""
    explorer = page.locator(".explorer")
    explorer.evaluate(_SWITCH, {"zoom": "head", "view": view, "layer": 0, "head": 0})
    page.wait_for_timeout(200)
    times: dict[str, list[float]] = {"kind": [], "layer": [], "head": []}
    for number in range(rounds + 1):
        changes: list[dict[str, object]] = [
            {"kind": KINDS[number % 3]},
            {"layer": number % 5 + 1},
            {"head": number % 7 + 1},
        ]
        for name, change in zip(times, changes, strict=True):
            times[name].append(explorer.evaluate(_SWITCH, change))
            page.wait_for_timeout(20)
    return {f"{name}_ms": statistics.median(samples[1:]) for name, samples in times.items()} | {
        "slowest_switch_ms": max(max(samples) for samples in times.values())
    }


def measure_explorer(
    browser: Browser, address: str, tokens: int, rounds: int, shape: Mapping[str, object]
) -> dict[str, Any]:
    """Measure the explorer with `tokens` on each side, and the `layers`, `heads` and `view` of `shape`."""
    query = f"{address}/?{urlencode({'tokens': tokens, 'rounds': rounds + 1, **shape})}"
    page = _open(browser, query)
    explorer = page.locator(".explorer")
    times = []
    for _ in range(rounds):
        times.append(explorer.evaluate(_CLICK, "show next"))
        page.wait_for_timeout(600)  # the selection is reported meanwhile
    tiles, painted = explorer.locator(".tile").count(), explorer.evaluate(_PICTURES)
    if painted != tiles:
        raise SystemExit(f"{tokens} tokens: only {painted} of {tiles} heads are painted")
    measurements: dict[str, Any] = {"tokens": tokens, "visible_ms": statistics.median(times), "heads": tiles}
    measurements["dom_nodes"] = explorer.evaluate("(root) => root.querySelectorAll('*').length")
    measurements |= _switches(page, max(3, rounds), "layer" if shape["view"] == "layer" else "heads") | _memory(page)
    page.context.close()
    return measurements | {"wire_mb": _wire(browser, query) / 1e6}


def measure_page(browser: Browser, address: str, texts: list[str]) -> dict[str, float]:
    """The page Translate: milliseconds from Enter, translated, and by another session that asks for the same."""
    measurements = {}
    for name in ("translated", "cached"):
        page = _open(browser, f"{address}/?{urlencode({'lang': 'en', 'zoom': 'heads', 'view': 'kinds'})}")
        page.evaluate(_NOTE_ENTER)
        explorer, times = page.locator(".explorer"), []
        for text in texts:
            before = explorer.evaluate("(root) => root.explorer.translation.id")
            field = page.get_by_role("textbox").first
            field.fill(text)
            field.press("Enter")
            times.append(explorer.evaluate(_ENTERED, before))
            page.wait_for_timeout(1_000)
        measurements[f"page_{name}_ms"] = statistics.median(times[1:] or times)  # the first one warms up
        page.context.close()
    return measurements


def measure_bertviz(browser: Browser, address: str, tokens: int, rounds: int) -> dict[str, Any]:
    """BertViz' model view of the same maps; `visible_ms` is None when it did not open in time."""
    from playwright.sync_api import Error

    measurements: dict[str, Any] = {"tokens": tokens, "visible_ms": None}
    times: list[float] = []
    try:
        for _ in range(rounds):
            context = browser.new_context(viewport={"width": 1280, "height": 800})
            context.set_default_timeout(1e3 * BERTVIZ_SECONDS)
            context.add_init_script(_NOTE_PAINTED)
            page = context.new_page()
            page.goto(f"{address}/?{urlencode({'tokens': tokens, 'bertviz': 1})}")
            page.get_by_role("button", name="show bertviz").wait_for()
            page.wait_for_timeout(1_000)
            start = page.evaluate(_CLICK_BERTVIZ)
            page.wait_for_selector("iframe", state="attached")
            frame = page.frames[-1]
            frame.wait_for_function("() => window.paintedAt && document.querySelector('svg')")
            times.append(frame.evaluate("window.paintedAt") - start)
            measurements["dom_nodes"] = frame.evaluate("document.querySelectorAll('*').length")
            measurements["document_mb"] = frame.evaluate("document.documentElement.outerHTML.length") / 1e6
            context.close()
    except Error as error:
        measurements["failed"] = str(error).splitlines()[0]
    if times:
        measurements["visible_ms"] = statistics.median(times)
    return measurements


def measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    """One entry for each number of tokens."""
    from transformer_core.translator import Translator
    from viz_app.serving.input_validation import MAX_TOKENS

    rounds = options.rounds or (1 if options.quick else 5)
    shape = {"layers": options.layers, "heads": options.heads, "view": options.view}
    alone = shape != SHIPPED
    tokenizer = Translator.load(ROOT / "checkpoints" / "en-de").tokenizer.source
    entries: list[dict[str, Any]] = []
    with browsing() as browser, serving(PAGE) as bare, serving(APP) as app:
        for tokens in options.tokens:
            entry = measure_explorer(browser, bare, tokens, min(rounds, 3) if tokens > 300 else rounds, shape)
            if tokens <= MAX_TOKENS and not alone:
                texts = [
                    sentence(lambda text: len(tokenizer.encode(text)), tokens, n) for n in range(min(rounds, 3) + 1)
                ]
                entry |= measure_page(browser, app, texts)
            entries.append(entry)
        for entry in entries:
            if entry["tokens"] <= BERTVIZ_MAX and not alone:
                measurements = measure_bertviz(browser, bare, entry["tokens"], min(rounds, 3))
                entry["bertviz"] = measurements
                if measurements["visible_ms"] is not None:
                    entry["times_faster"] = measurements["visible_ms"] / entry["visible_ms"]
    return entries


def main() -> None:
    """Print a table, then one line of JSON."""
    tokens = {"type": int, "nargs": "+", "default": [20, 50, 200, 512], "metavar": "N"}
    options = read_options(
        __doc__,
        ("--tokens", tokens),
        ("--layers", {"type": int, "default": SHIPPED["layers"], "metavar": "N"}),
        ("--heads", {"type": int, "default": SHIPPED["heads"], "metavar": "N", "help": "Of each layer."}),
        ("--view", {"choices": VIEWS, "default": SHIPPED["view"], "help": "All heads, of one layer, or all kinds."}),
    )
    if options.quick:
        options.tokens = [12]
    entries = measure(options)
    columns = ["tokens", "wire_mb", "visible_ms", "kind_ms", "layer_ms", "head_ms", "slowest_switch_ms", "dom_nodes"]
    columns += ["heap_mb", "buffers_mb", "page_cached_ms", "page_translated_ms", "times_faster"]
    rows = [
        [*(entry.get(name, "") for name in columns), entry.get("bertviz", {}).get("visible_ms", "")]
        for entry in entries
    ]
    report("The attention explorer in Chromium", [*columns, "bertviz_ms"], rows, {"explorer": entries}, options)


if __name__ == "__main__":
    main()
