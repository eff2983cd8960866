"""Buttons that download the handouts of a session."""

from __future__ import annotations

from functools import partial

import streamlit as st

from viz_app.export.bundle import Turn
from viz_app.lessons.context import LessonContext, fit_sentence
from viz_app.lessons.session_sheets import SHEETS, Sheet
from viz_app.lessons.stage import LessonState
from viz_app.serving.models import loader
from viz_app.standalone.paper import render_sheet
from viz_app.state import session
from viz_app.state.selected_model import selected_model
from viz_app.text import Texts
from viz_app.ui.downloads import in_turns


def draw_session_handouts(t: Texts) -> None:
    """Draw a button for each file of the class and one for the teacher's, with figures of the visitor's sentence."""
    text = str(st.session_state[session.TEXT_KEY])
    for sheet in SHEETS:
        st.download_button(
            t(f"handout.download_{sheet}"),
            data=in_turns(partial(_file, selected_model(), session.session_id(), text, t.language, sheet)),
            file_name=f"headlight_session_{sheet}_{t.language}.html",
            mime="text/html",
            key=f"session-{sheet}",
            icon=":material/key:" if sheet == "teacher" else ":material/print:",
            on_click="ignore",
        )


def _file(model: str, who: str, text: str, language: str, sheet: Sheet, turn: Turn) -> bytes:
    service = loader.get_translation_service(model)
    sentence = fit_sentence(text, service)
    context = LessonContext(sentence, LessonState(), language, lambda: service, who, parses=service.parses)
    return render_sheet(sheet, context, turn)
