"""Field of the sentence, shared by several pages."""

from __future__ import annotations

import streamlit as st

from viz_app.serving.scheduling.monitoring import connected_sessions
from viz_app.serving.streamlit_patches import shared_across_pages
from viz_app.state import session
from viz_app.text import Texts

_PAUSE = 50  # milliseconds without a key until the text is sent, for each session; a key that is held repeats sooner
_LONGEST_PAUSE = 250


def sentence_field(t: Texts, *, streams: bool = False) -> str:
    """Draw the field; return its text, a moment after each key.

    Args:
        t: Labels.
        streams: Whether the page shows a translation while it is generated: it then answers each key, as long as few
            sessions share the server.
    """
    pause = min(_PAUSE * max(1, connected_sessions()), _LONGEST_PAUSE) if streams else _LONGEST_PAUSE
    with shared_across_pages():
        typed = st.text_input(
            t("translate.input"),
            key=session.TEXT_KEY,
            placeholder=t("translate.placeholder"),
            label_visibility="collapsed",
            live=f"{pause}ms",
            persist_state="session",
            autocomplete="off",
        )
    return typed or ""
