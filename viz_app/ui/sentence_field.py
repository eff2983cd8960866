"""Field of the sentence, shared by several pages."""

from __future__ import annotations

import streamlit as st

from viz_app.serving.streamlit_patches import shared_across_pages
from viz_app.state import session
from viz_app.text import Texts


def sentence_field(t: Texts) -> str:
    """Draw the field; return its text, a moment after each key."""
    with shared_across_pages():
        typed = st.text_input(
            t("translate.input"),
            key=session.TEXT_KEY,
            placeholder=t("translate.placeholder"),
            label_visibility="collapsed",
            live="250ms",
            persist_state="session",
            autocomplete="off",
        )
    return typed or ""
