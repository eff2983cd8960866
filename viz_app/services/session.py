"""What one visitor's session holds: who it is, the language, the sentence."""

from __future__ import annotations

import uuid

import streamlit as st

from viz_app.services.examples import EXAMPLES, FIRST_EXAMPLE
from viz_app.text import Texts, best_language, texts

LANGUAGE_KEY = "lang"
_SPOKEN_KEY = "lang_spoken"  # the same, kept apart from the widget
TEXT_KEY = "text"
SELECTION_KEY = "selection"  # what the explorer of Translate shows
DRAFT_KEY = "studio_draft"  # what the page Figures makes
DRAFT_TEXT_KEY = "studio_text"  # the sentence that it was made of
SEEN_KEY = "studio_seen"  # the explorer's selection as that page knows it
FRESH_KEY = "studio_fresh"  # whether that page is to choose the head, as at its start
ZOOM_KEY = "studio_zoom"
_PAGE_KEY = "page"


def start() -> None:
    """Fill a new session from its URL and from the browser's language. Does nothing later on."""
    if LANGUAGE_KEY not in st.session_state:
        kept = st.session_state.get(_SPOKEN_KEY)
        st.session_state[LANGUAGE_KEY] = kept or best_language(st.query_params.get("lang"), st.context.locale)
    # Streamlit forgets a widget's value when a run ends before the widget is drawn, as a change of page may do.
    st.session_state[_SPOKEN_KEY] = st.session_state[LANGUAGE_KEY]
    if TEXT_KEY not in st.session_state:
        st.session_state[TEXT_KEY] = st.query_params.get("text", EXAMPLES[FIRST_EXAMPLE])


def arrive(page: str) -> None:
    """Carry the sentence over to another page.

    The field of the sentence stands on several pages; to Streamlit each is a widget of its own, which starts empty
    unless it is given its value.
    """
    if st.session_state.get(_PAGE_KEY) != page:
        st.session_state[_PAGE_KEY] = page
        st.session_state[TEXT_KEY] = st.session_state[TEXT_KEY]


def session_id() -> str:
    """A name for this session, made at random."""
    name: str = st.session_state.setdefault("session_id", uuid.uuid4().hex)
    return name


def language() -> str:
    """Code of the language that this session reads."""
    return best_language(st.session_state.get(LANGUAGE_KEY))


def labels() -> Texts:
    """The labels in the language of this session."""
    return texts(language())
