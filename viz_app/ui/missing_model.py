"""Note for an address that names a missing model.

It is apart from the model picker, so that the frame of the page has little to import.
"""

from __future__ import annotations

import streamlit as st

from viz_app.serving.models.registry import display_names
from viz_app.state import session
from viz_app.state.selected_model import selected_model
from viz_app.text import Texts
from viz_app.ui.escape_markdown import escape_markdown


def draw_missing_model(t: Texts) -> None:
    """Draw a note if the address names a model that is not installed."""
    requested, now = session.requested_model(), selected_model()
    if requested not in (None, now):
        message = t(
            "models.missing", requested=escape_markdown(str(requested)), now=escape_markdown(display_names(t)[now])
        )
        st.caption(f":material/warning: {message}")
