"""A bare page that shows the explorer with something to compare, for test_explorer_compare.py.

The toggle stands for an edit of the sentence; `vs=link` for a link that brings the other sentence along.
"""

from __future__ import annotations

import json

import streamlit as st

from tests.browser import explorer_samples as samples
from viz_app.components.explorer import Selection, explorer, pack
from viz_app.text import texts

EDIT = (
    [*samples.SENTENCE[0][:2], "▁little", *samples.SENTENCE[0][2:]],
    [*samples.SENTENCE[1][:3], "▁kleiner", "▁Hund"],
)


def payload(name: str, language: str) -> bytes:
    """One sentence."""
    source, target = EDIT if name == "edit" else samples.SENTENCE
    maps = samples.sample(source, target, seed=2 if name == "edit" else 1)
    return pack(
        maps,
        steps=samples.confidences(maps),
        texts=texts(language).table("explorer"),
        selection=Selection(),
        about={"text": name, "model": "en-de", "own": "en-de", "models": ["big"]},
    )


def page() -> None:
    """The switch, the explorer, and what Python knows of it."""
    language = st.query_params.get("language", "en")
    linked = st.query_params.get("vs") == "link"
    edit = st.toggle("edit") or linked
    start = Selection(
        kind="cross", layer=3, head=5, against="cross.1.0" if linked else None, vs="plain" if linked else None
    )
    other = payload("plain", language) if linked else None
    selection = explorer(payload("edit" if edit else "plain", language), key="explorer", selection=start, other=other)
    st.markdown(json.dumps(selection.to_dict()))


st.set_page_config(layout="wide")
page()
