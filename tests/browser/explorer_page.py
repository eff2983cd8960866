"""A bare page that shows nothing but the explorer, for test_explorer.py.

Query parameters: `sample` (sentence, other, hostile, strings, uneven, unequal, cut, blind or a number of tokens),
`language`, and `bytes`: weights travel as bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from unittest import mock

import streamlit as st

from tests.browser import explorer_samples as samples
from transformer_core.attention_maps import AttentionMaps, Kind
from viz_app.components.explorer import Selection, explorer, pack, weights
from viz_app.text import texts

START = Selection(kind="cross", layer=3, head=5)
MADE: dict[str, Callable[[], AttentionMaps]] = {
    "uneven": samples.uneven_sample,
    "strings": samples.strings_sample,
    "512": partial(samples.few_heads_sample, 512),
}
NAMED = {"sentence": samples.SENTENCE, "other": samples.OTHER, "hostile": samples.HOSTILE}


@st.cache_data
def payload(name: str, language: str, bytes_only: bool) -> bytes:
    """The packed sample."""
    if name in MADE:
        maps = MADE[name]()
    elif name.isdecimal():
        maps = samples.long_sample(int(name))
    elif name == "blind":
        maps = samples.blind_sample()
    elif name == "cut":
        maps = samples.sample(*samples.SENTENCE, finished=False)
    elif name == "unequal":
        maps = samples.unequal_sample()
    else:
        maps = samples.sample(*NAMED[name])
    table = texts(language).table("explorer")
    with mock.patch.object(weights, "MOST_BYTES", 0 if bytes_only else weights.MOST_BYTES):
        packed = weights.pack_weights(maps)
    measured: dict[Kind, list[list[float]]] = {"cross": samples.error_rates(maps)} if name in NAMED else {}
    steps = samples.confidences(maps)
    return pack(maps, weights=packed, steps=steps, texts=table, selection=START, alignment=measured)


def page() -> None:
    """The switches, the explorer, and what Python knows of it."""
    name = st.query_params.get("sample", "sentence")
    if st.toggle("other sentence"):
        name = "other"
    if st.toggle("away"):
        return
    start = st.session_state.get("kept", START)
    selection = explorer(
        payload(name, st.query_params.get("language", "en"), "bytes" in st.query_params),
        key="explorer",
        selection=start,
    )
    st.session_state["kept"] = selection
    st.markdown(json.dumps(selection.to_dict()))


st.set_page_config(layout="wide")
page()
