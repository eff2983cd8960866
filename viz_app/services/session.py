"""What one visitor's session holds: who it is, the language, the sentence."""

from __future__ import annotations

import uuid

import streamlit as st

from viz_app.services.examples import EXAMPLES, FIRST_EXAMPLE
from viz_app.text import Texts, best_language, texts

LANGUAGE_KEY = "lang"
TEXT_KEY = "text"


def start() -> None:
    """Fill a new session from its URL and from the browser's language. Does nothing later on."""
    if LANGUAGE_KEY not in st.session_state:
        st.session_state[LANGUAGE_KEY] = best_language(st.query_params.get("lang"), st.context.locale)
    if TEXT_KEY not in st.session_state:
        st.session_state[TEXT_KEY] = st.query_params.get("text", EXAMPLES[FIRST_EXAMPLE])


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
