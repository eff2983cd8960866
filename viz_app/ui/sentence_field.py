"""Field of the sentence with the choice of the model in it, shared by several pages."""

from __future__ import annotations

import streamlit as st

from viz_app.components.sentence_field import report_while_typing
from viz_app.serving.scheduling.monitoring import connected_sessions
from viz_app.serving.streamlit_patches import shared_across_pages
from viz_app.state import session
from viz_app.text import Texts
from viz_app.ui.model_picker import draw_models

_PAUSE = 50  # milliseconds without a key until the text is sent, for each session; a key that is held repeats sooner
_LONGEST_PAUSE = 250


def sentence_field(t: Texts, *, streams: bool = False) -> str:
    """Draw the field; return its text, a moment after each key.

    Args:
        t: Labels.
        streams: Whether the page shows a translation while it is generated: it then answers each key, as long as few
            sessions share the server.
    """
    with shared_across_pages(), st.container(key="field", horizontal=True, vertical_alignment="top", gap=None):
        draw_models(t)
        typed = st.text_area(
            t("translate.input"),
            key=session.TEXT_KEY,
            height="content",
            placeholder=t("translate.placeholder"),
            label_visibility="collapsed",
            persist_state="session",
        )
        pause = min(_PAUSE * max(1, connected_sessions()), _LONGEST_PAUSE) if streams else _LONGEST_PAUSE
        report_while_typing(pause)
    return typed or ""
