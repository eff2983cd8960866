"""Row of widgets that keep their state when the visitor changes the page."""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz_app.serving.streamlit_patches import shared_across_pages


def shared_row(**settings: Any) -> DeltaGenerator:
    """Return a horizontal container for a page's own widgets and shared ones; `settings` as `st.container`."""
    with shared_across_pages():
        return st.container(horizontal=True, vertical_alignment="center", **settings)
