"""A bare page that shows nothing but the explorer, for test_explorer.py.

Query parameters: `sample` (sentence, other, hostile, cut, unequal or a number of tokens) and `language`.
"""

from __future__ import annotations

import json

import streamlit as st

from tests.browser import explorer_samples as samples
from transformer_core.attention_maps import Kind
from viz_app.components.explorer import Selection, explorer, pack
from viz_app.text import texts

START = Selection(kind="cross", layer=3, head=5)
NAMED = {"sentence": samples.SENTENCE, "other": samples.OTHER, "hostile": samples.HOSTILE}


@st.cache_data
def payload(name: str, language: str) -> bytes:
    """The packed sample."""
    if name.isdecimal():
        maps = samples.long_sample(int(name))
    elif name == "cut":
        maps = samples.sample(*samples.SENTENCE, finished=False)
    elif name == "unequal":
        maps = samples.unequal_sample()
    else:
        maps = samples.sample(*NAMED[name])
    table = texts(language).table("explorer")
    measured: dict[Kind, list[list[float]]] = {"cross": samples.error_rates(maps)} if name in NAMED else {}
    return pack(maps, steps=samples.confidences(maps), texts=table, selection=START, alignment=measured)


def page() -> None:
    """The switches, the explorer, and what Python knows of it."""
    name = st.query_params.get("sample", "sentence")
    if st.toggle("other sentence"):
        name = "other"
    if st.toggle("away"):
        return
    start = st.session_state.get("kept", START)
    selection = explorer(payload(name, st.query_params.get("language", "en")), key="explorer", selection=start)
    st.session_state["kept"] = selection
    st.markdown(json.dumps(selection.to_dict()))


st.set_page_config(layout="wide")
page()
