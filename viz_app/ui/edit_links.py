"""From what is seen on one page to another: a picture to Figures, a head to Translate."""

from __future__ import annotations

import streamlit as st

from viz_app.components.explorer import Selection
from viz_app.figure_editor.figure_spec import Draft
from viz_app.figure_editor.lesson_figure_spec import LessonScene
from viz_app.state import session


def edit_in_figures(selection: Selection) -> None:
    """Open the page Figures with what the explorer shows, in the style that was chosen there last: for `surely`."""
    kept: Draft = st.session_state.get(session.DRAFT_KEY) or Draft()
    st.session_state[session.DRAFT_KEY] = kept.as_seen(selection)
    st.session_state[session.SEEN_KEY] = selection
    session.go("figures")


def edit_scene_in_figures(scene: LessonScene) -> None:
    """Open the page Figures with the picture of a lesson, in the style that was chosen there last: for `surely`."""
    kept: Draft = st.session_state.get(session.DRAFT_KEY) or Draft()
    st.session_state[session.DRAFT_KEY] = kept.of_scene(scene)
    session.go("figures")


def open_in_translate(selection: Selection) -> None:
    """Open the page Translate with a selection: for `surely`."""
    st.session_state[session.SELECTION_KEY] = selection
    session.go("translate")
