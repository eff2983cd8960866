"""The explorer in a page of the disk: no server, opened in a moment; what it reports is answered by the test."""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.browser import explorer_samples as samples
from tests.browser import explorer_searches as searches
from tests.browser.rest import rest
from transformer_core.attention_maps import AttentionMaps, Kind
from transformer_core.config import LengthPenalty
from viz_app.components.explorer.code import explorer_code
from viz_app.components.explorer.payload import join_payloads, pack
from viz_app.components.explorer.selection import Selection
from viz_app.components.html_document import theme_style
from viz_app.components.modules import self_starting
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Page

Answer = Callable[[dict[str, Any]], bytes | None]
"""From a selection that the explorer reports to the payload that a page would send then; None for the same."""

START = Selection(kind="cross", layer=3, head=5)
NAMED = {"sentence": samples.SENTENCE, "other": samples.OTHER, "hostile": samples.HOSTILE}
MADE: dict[str, Callable[[], AttentionMaps]] = {
    "uneven": samples.uneven_sample,
    "strings": samples.strings_sample,
    "blind": samples.blind_sample,
    "unequal": samples.unequal_sample,
    "cut": partial(samples.sample, *samples.SENTENCE, finished=False),
    "512": partial(samples.few_heads_sample, 512),
    **{name: partial(samples.sample, *tokens) for name, tokens in NAMED.items()},
}
# A component mounts into an element that may be filled anew; what it reported last stands below it.
HOST = """
let last = "";
globalThis.show = (text) => {
    last = text;
    const data = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const place = document.querySelector("#place");
    if (!place.shadowRoot) place.attachShadow({ mode: "open" }).innerHTML = '<div class="explorer"></div>';
    const setStateValue = async (name, value) => {
        if (name !== "selection") return;
        document.querySelector("#reported").textContent = JSON.stringify(value, null, 1);
        const answer = await globalThis.answer(value);
        if (answer) show(answer);
    };
    const mounted = { data, parentElement: place.shadowRoot, setStateValue, setTriggerValue() {} };
    globalThis[Symbol.for("headlight.explorer")](mounted);
};
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => last && show(last));
"""


@cache
def document() -> str:
    """The page, into which `show` mounts."""
    style = "body { margin: 0; } main { padding: 1rem; font: 16px / 1.5 var(--st-font); color: var(--st-text-color);"
    style += " background: var(--st-background-color); }"
    style += " ::-webkit-scrollbar { width: 6px; height: 6px; }"  # as in the app
    code = self_starting(explorer_code()).replace("</script", "<\\/script")
    return (
        '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Headlight</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{theme_style()}{style}</style>"
        '<main data-testid="stMain"><h1 hidden>Headlight</h1><div id="place"></div><p id="reported"></p></main>'
        f'<script type="module">{code}</script>'
        f"<script>{HOST}</script></html>"
    )


def sample_maps(name: str) -> AttentionMaps:
    """The maps of a sample; a number is one of that many tokens."""
    return MADE[name]() if name in MADE else samples.long_sample(int(name))


@cache
def sample(name: str, language: str = "en") -> bytes:
    """The payload of a sample."""
    maps = sample_maps(name)
    measured: dict[Kind, list[list[float]]] = {"cross": samples.error_rates(maps)} if name in NAMED else {}
    table = texts(language).table("explorer")
    return pack(maps, steps=samples.confidences(maps), texts=table, selection=START, alignment=measured)


def search(steps: int, beam: int, kind: LengthPenalty, language: str = "en") -> tuple[bytes, Answer]:
    """A made-up beam search, and its branches."""
    translation, config = searches.made_up(steps, beam=beam, kind=kind)
    table = texts(language).table("explorer")

    def payload(selection: Selection) -> bytes:
        tree = searches.tree_of(translation, config, selection.branch)
        maps = searches.maps_of(translation, tree["shown"])
        return pack(maps, steps=samples.confidences(maps), texts=table, selection=selection, beam=tree)

    return payload(START), lambda value: payload(Selection.from_state(value, default=START))


def compared(name: str, *, linked: bool = False, language: str = "en") -> bytes:
    """The sentence "plain", or the same after an "edit"; `linked` brings the other one along, as a link does."""
    maps = samples.sample(*samples.EDIT, seed=2) if name == "edit" else samples.sample(*samples.SENTENCE)
    start = dataclasses.replace(START, against="cross.1.0", vs="plain") if linked else START
    about = {"text": name, "model": "en-de", "own": "en-de", "models": ["big"]}
    table = texts(language).table("explorer")
    payload = pack(maps, steps=samples.confidences(maps), texts=table, selection=start, about=about)
    return join_payloads(payload, compared("plain", language=language)) if linked else payload


class FileExplorer:
    """Opens explorers one after the other in one page.

    Args:
        page: Stays open.
        folder: For the document.
    """

    def __init__(self, page: Page, folder: Path) -> None:
        self.page, self._answer = page, None
        self._document = folder / "explorer.html"
        self._document.write_text(document(), encoding="utf-8")
        page.expose_function("answer", self._answered)

    def open(self, payload: bytes, answer: Answer | None = None) -> None:
        """Show a payload in a new document and wait until it rests."""
        self._answer: Answer | None = answer
        self.page.goto(self._document.as_uri())
        show(self.page, payload)
        self.page.locator(".explorer .tile").first.wait_for()
        rest(self.page)

    def _answered(self, value: dict[str, Any]) -> str | None:
        payload = self._answer(value) if self._answer else None
        return None if payload is None else base64.b64encode(payload).decode()


def show(page: Page, payload: bytes) -> None:
    """Hand the explorer that is mounted new data, as a run of the app does."""
    page.evaluate("(text) => show(text)", base64.b64encode(payload).decode())


def reported(page: Page) -> dict[str, Any]:
    """The selection as Python reads it."""
    return Selection.from_state(json.loads(page.locator("#reported").inner_text()), default=START).to_dict()
