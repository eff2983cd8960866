"""Payloads of the explorer for a page of the disk."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from tests.browser import explorer_samples as samples
from tests.browser import explorer_searches as searches
from tests.browser.file_page import Answer, show
from transformer_core.attention_maps import AttentionMaps, Kind
from viz_app.components.explorer.payload import join_payloads, pack
from viz_app.components.explorer.selection import Selection
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Page

START = Selection(kind="cross", layer=3, head=5)
NAMED = {"sentence": samples.SENTENCE, "other": samples.OTHER, "hostile": samples.HOSTILE}
MADE: dict[str, Callable[[], AttentionMaps]] = {
    "unequal": samples.unequal_sample,
    "cut": partial(samples.sample, *samples.SENTENCE, finished=False),
    "512": partial(samples.few_heads_sample, 512),
    **{name: partial(samples.sample, *tokens) for name, tokens in NAMED.items()},
}


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


def search(steps: int, beam: int, language: str = "en") -> tuple[bytes, Answer]:
    """A made-up beam search, and its branches."""
    translation, config = searches.made_up(steps, beam=beam)
    table = texts(language).table("explorer")

    def payload(selection: Selection) -> bytes:
        tree = searches.tree_of(translation, config, selection.branch)
        maps = searches.maps_of(translation, tree["shown"])
        return pack(maps, steps=samples.confidences(maps), texts=table, selection=selection, beam=tree)

    def answer(what: str, value: Any) -> bytes | None:
        return payload(Selection.from_state(value, default=START)) if what == "selection" else None

    return payload(START), answer


def compared(name: str, *, linked: bool = False, language: str = "en") -> bytes:
    """The sentence "plain", or the same after an "edit"; `linked` brings the other one along, as a link does."""
    maps = samples.sample(*samples.EDIT, seed=2) if name == "edit" else samples.sample(*samples.SENTENCE)
    start = dataclasses.replace(START, against="cross.2.1", vs="plain") if linked else START
    about = {"text": name, "model": "en-de", "own": "en-de", "models": ["big"]}
    table = texts(language).table("explorer")
    payload = pack(maps, steps=samples.confidences(maps), texts=table, selection=start, about=about)
    return join_payloads(payload, compared("plain", language=language)) if linked else payload


def show_next(page: Page, payload: bytes) -> None:
    """Hand the explorer that is open another payload, as a run of the app does."""
    show(page, "explorer", payload)


def reported(page: Page) -> dict[str, Any]:
    """The selection as Python reads it."""
    return Selection.from_state(json.loads(page.locator("#reported").inner_text()), default=START).to_dict()
