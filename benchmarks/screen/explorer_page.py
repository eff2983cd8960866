"""A page for benchmarks/explorer.py: a button that shows another translation of as many tokens.

Query parameters: `tokens` on each side; `layers` of `heads`; `view` of all heads; `rounds`, how many translations;
`bertviz` for one that shows that instead.
The weights are made by a formula and packed before the button is pressed; the translations differ in their tokens, so
that each is sent as a whole.
"""

from __future__ import annotations

import dataclasses

import streamlit as st

from tests.browser import explorer_samples as samples
from transformer_core.attention_maps import Axis
from viz_app.components.bertviz_frame import bertviz_frame
from viz_app.components.bertviz_frame.document import bertviz_document
from viz_app.components.explorer.mount import explorer
from viz_app.components.explorer.payload import pack
from viz_app.components.explorer.selection import VIEWS, Selection, View
from viz_app.components.explorer.weights import pack_weights
from viz_app.text import texts


@st.cache_resource
def payloads(tokens: int, rounds: int, layers: int, heads: int, view: View) -> list[bytes]:
    """The packed translations."""
    maps = samples.long_sample(tokens, layers=layers, heads=heads)
    weights = pack_weights(maps)
    steps = samples.confidences(maps)
    table = texts("en").table("explorer")

    def numbered(axis: Axis, number: int) -> Axis:
        return dataclasses.replace(axis, tokens=(f"{axis.tokens[0]}{number}", *axis.tokens[1:]))

    return [
        pack(
            dataclasses.replace(maps, source=numbered(maps.source, number)),
            weights=weights,
            steps=steps,
            texts=table,
            selection=Selection(zoom="heads", view=view),
        )
        for number in range(rounds)
    ]


@st.cache_resource
def document(tokens: int) -> str:
    """BertViz' model view of the same maps."""
    return bertviz_document(samples.long_sample(tokens), "model")


def page() -> None:
    """The buttons and the explorer, or BertViz."""
    tokens = int(st.query_params.get("tokens", "20"))
    if "bertviz" in st.query_params:
        text = document(tokens)
        if st.button("show bertviz"):
            bertviz_frame(text, key="bertviz", title="BertViz", failed="failed")
        return
    rounds, layers, heads = (int(st.query_params.get(name, "1")) for name in ("rounds", "layers", "heads"))
    view: View = next((view for view in VIEWS if view == st.query_params.get("view")), "kinds")
    packed = payloads(tokens, rounds, layers, heads, view)
    if st.button("show next"):
        st.session_state["number"] = (st.session_state.get("number", 0) + 1) % len(packed)
    explorer(packed[st.session_state.get("number", 0)], key="explorer")


st.set_page_config(layout="wide")
page()
