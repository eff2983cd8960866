"""Tour of Translate: on a first visit, or from About."""

from __future__ import annotations

import uuid

import streamlit as st

from viz_app.components.tour import tour
from viz_app.state import session
from viz_app.text import Texts
from viz_app.ui.lesson_route import followed_route

_ASKED = "tour_asked"  # a mark of the last time that the visitor asked for it
# Where its steps are.
_PLACES = (
    ".st-key-sentence .stTextInput",
    ".explorer .translation",
    ".explorer .overview .tiles",
    ".explorer .map",
    ".st-key-downloads",
)


def draw_tour(t: Texts) -> None:
    """Offer the tour, by itself only to a session that began without an address and is not on the route."""
    first = session.began_without_address() and not followed_route()
    asked = st.session_state.get(_ASKED, "")
    tour(_PLACES, t.table("tour"), language=t.language, first=first, asked=asked)


def start_tour() -> None:
    """For `session.enqueue_callback`: go to Translate and show the tour."""
    st.session_state[_ASKED] = uuid.uuid4().hex
    session.navigate_to("translate")
