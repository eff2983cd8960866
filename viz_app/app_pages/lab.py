"""The Lab: experiments on the visitor's sentence that show what a head does, not only where it looks."""

from __future__ import annotations

import streamlit as st

from viz_app.state import session
from viz_app.ui.lesson_route import LAB_LINKED_KEY
from viz_app.ui.lessons.lab_stage import LabStage
from viz_app.ui.sentence_field import sentence_field


def main() -> None:
    """Draw the bench that is open."""
    t = session.labels()
    linked = st.session_state.setdefault(LAB_LINKED_KEY, "lesson" not in st.query_params and "scene" in st.query_params)
    typed = sentence_field(t)
    LabStage(t, typed, linked=linked).draw()


if __name__ == "__main__":
    main()
