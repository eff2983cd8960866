"""Bare pages for browser tests: the explorer, the row of other views, or the share menu, and nothing else.

The query parameter `show` says which, and `language` in what; the functions say what else each of them takes.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from functools import partial
from unittest import mock

import streamlit as st

from tests.browser import explorer_samples as samples
from tests.browser import explorer_searches as searches
from transformer_core.attention_maps import AttentionMaps, Kind
from transformer_core.config import LengthPenalty
from viz_app.components.bertviz_frame import bertviz_frame
from viz_app.components.explorer import weights
from viz_app.components.explorer.mount import explorer, last_report
from viz_app.components.explorer.payload import pack
from viz_app.components.explorer.selection import Selection
from viz_app.components.share import share_code
from viz_app.state.query_params import selection_from_params
from viz_app.state.share_link import qr_rows
from viz_app.text import texts
from viz_app.ui.translate.external_views import draw_external_views, open_view

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
ATTACK = """<!DOCTYPE html><title>attack</title><script>
const tried = [];
for (const reach of [
  () => parent.document.body, () => { top.location = "about:blank"; }, () => localStorage.x, () => document.cookie,
  () => { if (!open("about:blank")) throw new Error("no window"); },
]) {
  try { reach(); tried.push("reached"); } catch (error) { tried.push("refused"); }
}
parent.postMessage({ height: 1e9, tried }, "*");
parent.postMessage("text", "*");
parent.postMessage(null, "*");
window.tried = tried;
</script><p>attack</p>"""

params = st.query_params.to_dict()
language = params.get("language", "en")
table = texts(language).table("explorer")


def made(name: str) -> AttentionMaps:
    """The maps of a sample; a number is one of so many tokens."""
    return MADE[name]() if name in MADE else samples.long_sample(int(name))


@st.cache_data
def payload(name: str, language: str, bytes_only: bool) -> bytes:
    """The packed sample."""
    maps = made(name)
    with mock.patch.object(weights, "MAX_BYTES", 0 if bytes_only else weights.MAX_BYTES):
        packed = weights.pack_weights(maps)
    measured: dict[Kind, list[list[float]]] = {"cross": samples.error_rates(maps)} if name in NAMED else {}
    steps = samples.confidences(maps)
    return pack(maps, weights=packed, steps=steps, texts=table, selection=START, alignment=measured)


def explorer_page() -> None:
    """Of a `sample`; with `bytes` its weights travel as bytes. The switches stand for what a page does."""
    name = params.get("sample", "sentence")
    if st.toggle("other sentence"):
        name = "other"
    if st.toggle("away"):
        return
    start = st.session_state.get("kept", START)
    selection = explorer(payload(name, language, "bytes" in params), key="explorer", selection=start)
    st.session_state["kept"] = selection
    st.markdown(json.dumps(selection.to_dict()))


def beam_page() -> None:
    """With a beam search of `steps`, `beam` and `kind` (of the length penalty)."""
    kind: LengthPenalty = "power" if params["kind"] == "power" else "gnmt"
    translation, config = searches.made_up(int(params["steps"]), beam=int(params["beam"]), kind=kind)
    wanted = last_report("explorer") or START
    tree = searches.tree_of(translation, config, wanted.branch)
    maps = searches.maps_of(translation, tree["shown"])
    packed = pack(maps, steps=samples.confidences(maps), texts=table, selection=wanted, beam=tree)
    st.markdown(json.dumps(explorer(packed, key="explorer", selection=wanted).to_dict()))


def sentence_to_compare(name: str) -> bytes:
    """The sentence "plain", or the same after an "edit"."""
    maps = samples.sample(*samples.EDIT, seed=2) if name == "edit" else samples.sample(*samples.SENTENCE)
    about = {"text": name, "model": "en-de", "own": "en-de", "models": ["big"]}
    return pack(maps, steps=samples.confidences(maps), texts=table, selection=Selection(), about=about)


def compare_page() -> None:
    """With something to compare: the switch edits the sentence, and a link (`vs=link`) brings the other one along."""
    linked = params.get("vs") == "link"
    name = "edit" if st.toggle("edit") or linked else "plain"
    start = dataclasses.replace(START, against="cross.1.0", vs="plain") if linked else START
    other = sentence_to_compare("plain") if linked else None
    selection = explorer(sentence_to_compare(name), key="explorer", selection=start, other=other)
    st.markdown(json.dumps(selection.to_dict()))


def views_page() -> None:
    """The row of other views of a `sample`; `kind`, `layer`, `head` and `other` are as on the page Translate.

    The sample "attack" is a document that BertViz did not make.
    """
    name = params.get("sample", "sentence")
    if name == "attack":
        bertviz_frame(ATTACK, key="attack", title="attack", failed="failed")
        return
    selection = selection_from_params(params, START)
    if st.toggle("another head"):
        selection = Selection(kind="decoder", layer=0, head=1, unit="words")
    draw_external_views(texts(language), made(name), selection, (name,), {"source": name})
    st.markdown(f"opened: {open_view()}")


def share_page() -> None:
    """The code of a `link` in a menu, as on a page that others can open."""
    data = {"url": params["link"], "rows": qr_rows(params["link"]), "command": ""}
    labels = texts(language)
    with st.popover(labels("share.title")):
        share_code(data | {"texts": labels.table("share"), "language": language})


PAGES = {
    "explorer": explorer_page,
    "beam": beam_page,
    "compare": compare_page,
    "views": views_page,
    "share": share_page,
}
st.set_page_config(layout="wide")
PAGES[params.get("show", "explorer")]()
