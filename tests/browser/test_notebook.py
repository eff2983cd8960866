"""What notebooks show: two widgets side by side by the contract of anywidget, and a frame with hostile text."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("anywidget")

from tests.browser.conftest import OpenPage
from tests.browser.explorer_samples import sample
from tests.browser.hostile import LONE, SAFE, STRINGS
from transformer_core.translator import Translator
from viz_app import ExplorerWidget, show

if TYPE_CHECKING:
    from playwright.sync_api import Page

# The part of a notebook: a cell for each widget, whose models hold plain values and call listeners.
NOTEBOOK = """<!doctype html><meta charset="utf-8">
<style>button { background: red !important } div { font-family: cursive }</style>
<div id="light" style="width: 1000px; background: #fff"></div>
<div id="dark" style="width: 1000px; background: #111"></div>
<script type="module">
const [states, esm] = /* STATE */;
const url = URL.createObjectURL(new Blob([esm], { type: "text/javascript" }));
const widget = (await import(url)).default();
window.models = Object.fromEntries(Object.entries(states).map(([name, state]) => {
    const bytes = Uint8Array.from(atob(state._payload), (letter) => letter.charCodeAt(0));
    state._payload = new DataView(bytes.buffer);
    const listeners = [], sent = [];
    const tell = (name) => listeners.forEach(([event, call]) => event === `change:${name}` && call());
    const model = {
        sent, get: (name) => state[name], set: (name, value) => { state[name] = value; tell(name); },
        save_changes: () => sent.push({ ...state }),
        on: (event, call) => listeners.push([event, call]),
        off: (event, call) => listeners.splice(listeners.findIndex((one) => one[1] === call), 1),
        listeners,
    };
    model.end = widget.render({ model, el: document.getElementById(name) });
    return [name, model];
}));
</script>"""


def notebook(folder: Path, widgets: dict[str, ExplorerWidget]) -> str:
    """The address of a page with these widgets."""
    states: dict[str, dict[str, Any]] = {}
    for name, widget in widgets.items():
        state = {key: widget.get_state(key)[key] for key in ("_key", "_findings", "_off", "selection")}
        states[name] = {**state, "_payload": base64.b64encode(widget._payload).decode()}
    code = json.dumps([states, ExplorerWidget._esm]).replace("<", "\\u003c")
    out = folder / "notebook.html"
    out.write_text(NOTEBOOK.replace("/* STATE */", code), encoding="utf-8")
    return out.as_uri()


def test_two_widgets_share_neither_selection_nor_findings(
    tmp_path: Path, open_page: OpenPage, random_checkpoint: Path
) -> None:
    translator = Translator.load(random_checkpoint)
    widgets = {
        "light": ExplorerWidget(translator.translate("She is waiting for the bus.")),
        "dark": ExplorerWidget(translator.translate("A man is reading a book."), language="ko"),
    }
    page = open_page(notebook(tmp_path, widgets))
    first, second = page.locator("#light .explorer"), page.locator("#dark .explorer")
    first.locator(".map canvas").wait_for()
    second.locator(".map canvas").wait_for()
    colours = [one.evaluate("(root) => getComputedStyle(root).color") for one in (first, second)]
    assert colours[0] != colours[1]
    assert "cursive" not in first.evaluate("(root) => getComputedStyle(root).fontFamily")
    assert second.get_attribute("lang") == "ko"

    first.locator(".off-button").click()  # Python would answer one of them
    page.wait_for_function("models.light.sent.some((state) => state._off)")
    assert not page.evaluate("models.dark.sent.some((state) => state._off)")
    told = widgets["light"]
    told._off = page.evaluate("models.light.get('_off')")
    page.evaluate("(found) => models.light.set('_findings', found)", dict(told._findings))
    first.get_by_text("Log-probability").or_(first.get_by_text("log-probability")).first.wait_for()
    assert second.evaluate("(root) => root.explorer.store.state.off") is None

    wanted = {**widgets["light"].selection.to_dict(), "kind": "encoder", "layer": 1, "head": 2}
    page.evaluate("(selection) => models.light.set('selection', selection)", wanted)  # Python sets it
    assert first.evaluate("({ explorer }) => ['kind', 'layer', 'head'].map((name) => explorer.store.state[name])") == [
        "encoder",
        1,
        2,
    ]
    assert second.evaluate("({ explorer }) => explorer.store.state.kind") == "cross"
    second.evaluate("({ explorer }) => explorer.store.set({ layer: 0, head: 3 })")  # the reader does
    page.wait_for_function("models.dark.sent.some(({ selection }) => selection.layer === 0 && selection.head === 3)")

    page.evaluate("models.light.end()")
    assert first.count() == 0 and page.evaluate("models.light.listeners.length") == 0
    second.locator(".map canvas").wait_for()


def test_hostile_text_stays_text_in_the_frame_and_out_of_it(tmp_path: Path, open_page: OpenPage) -> None:
    tokens = [*STRINGS, LONE]
    html = show(sample(tokens, tokens), title=STRINGS[0]).html
    out = tmp_path / "cell.html"
    out.write_text(f'<!doctype html><meta charset="utf-8">{html}', encoding="utf-8", errors="replace")
    page: Page = open_page(out.as_uri())
    inside = page.frame_locator("iframe")
    inside.locator(".token").first.wait_for()
    assert inside.locator(".page-title").text_content() == STRINGS[0]
    owned, _, frames = page.evaluate(SAFE)
    assert owned is None and frames == 1
    (frame,) = page.frames[1:]
    assert frame.evaluate("() => [window.owned ?? null, window.origin]") == [None, "null"]
