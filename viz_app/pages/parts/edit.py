"""From a picture to the page Figures."""

from __future__ import annotations

import streamlit as st

from viz_app.components.explorer import Selection
from viz_app.services import session
from viz_app.services.draft import Draft


def edit_in_figures(selection: Selection) -> None:
    """Open the page Figures with what the explorer shows, in the style that was chosen there last: for `surely`."""
    kept: Draft = st.session_state.get(session.DRAFT_KEY) or Draft()
    st.session_state[session.DRAFT_KEY] = kept.as_seen(selection)
    st.session_state[session.SEEN_KEY] = selection
    session.go("figures")
