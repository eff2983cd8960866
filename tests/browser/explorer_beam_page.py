"""A bare page that shows the explorer with a beam search, for test_explorer_beam.py.

Query parameters: `steps`, `beam`, `kind` (of the length penalty) and `language`.
"""

from __future__ import annotations

import json

import streamlit as st

from tests.browser import explorer_samples as samples
from tests.browser import explorer_searches as searches
from viz_app.components.explorer import Selection, explorer, last_report, pack
from viz_app.text import texts


def page() -> None:
    """The explorer, and what Python knows of it."""
    params = st.query_params
    steps, beam = int(params.get("steps", "9")), int(params.get("beam", "3"))
    translation, config = searches.made_up(steps, beam=beam, kind="power" if params.get("kind") == "power" else "gnmt")
    wanted = last_report("explorer") or Selection(kind="cross", layer=3, head=5)
    tree = searches.tree_of(translation, config, wanted.branch)
    maps = searches.maps_of(translation, tree["shown"])
    payload = pack(
        maps,
        steps=samples.confidences(maps),
        texts=texts(params.get("language", "en")).table("explorer"),
        selection=wanted,
        beam=tree,
    )
    selection = explorer(payload, key="explorer", selection=wanted)
    st.markdown(json.dumps(selection.to_dict()))


st.set_page_config(layout="wide")
page()
