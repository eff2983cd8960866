"""What one visitor's session holds: who it is, the language, the sentence, the model."""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from viz_app.text import Texts, best_language, texts
from viz_app.text.examples import EXAMPLES, FIRST_EXAMPLE

LANGUAGE_KEY = "lang"
_SPOKEN_KEY = "lang_spoken"  # the same, kept apart from the widget
TEXT_KEY = "text"
MODEL_KEY = "model"  # name of the model that the visitor has chosen; None for the one that is served to all
SELECTION_KEY = "selection"  # what the explorer of Translate shows
DRAFT_KEY = "studio_draft"  # what the page Figures makes
DRAFT_READ_KEY = "studio_read"  # the model and the sentence that it was made of
SEEN_KEY = "studio_seen"  # the explorer's selection as that page knows it
FRESH_KEY = "studio_fresh"  # whether that page is to choose the head, as at its start
ZOOM_KEY = "studio_zoom"
_PAGE_KEY = "page"
_ASKED_KEY = "asked"  # what clicks have asked for and no run has done yet
_WANTED_KEY = "wanted_page"  # name of the page to go to, until it is there


def start() -> None:
    """Fill a new session from its URL and from the browser's language. Does nothing later on."""
    if LANGUAGE_KEY not in st.session_state:
        kept = st.session_state.get(_SPOKEN_KEY)
        st.session_state[LANGUAGE_KEY] = kept or best_language(st.query_params.get("lang"), st.context.locale)
    # Streamlit forgets a widget's value when a run ends before the widget is drawn, as a change of page may do.
    st.session_state[_SPOKEN_KEY] = st.session_state[LANGUAGE_KEY]
    if TEXT_KEY not in st.session_state:
        st.session_state[TEXT_KEY] = st.query_params.get("text", EXAMPLES[FIRST_EXAMPLE])
    if MODEL_KEY not in st.session_state:
        st.session_state[MODEL_KEY] = st.query_params.get("model")


def run_clicks() -> None:
    """Do what clicks have asked for through `surely`.

    Raises:
        Exception: What an action raised. It is not tried again, and those behind it are left to the next run.
    """
    asked: deque[Callable[[], object]] = st.session_state.setdefault(_ASKED_KEY, deque())
    while asked:
        try:
            asked[0]()
        except Exception:
            asked.popleft()  # it would fail in each run to come
            raise
        asked.popleft()  # only now: a run that is replaced, by no `Exception`, leaves the action to the next


def surely(action: Callable[..., object], *args: Any) -> Callable[[], None]:
    """For `on_click`: has `run_clicks` do `action(*args)` in this run or in a later one, at least once.

    A click does not reach a run that is replaced before it draws the button, for which the report of a component,
    that comes at the same moment, is enough; and in a callback already the first look at the session's state ends it
    without a word if another run waits. So the callback looks at nothing and only leaves a note.
    """
    asked: deque[Callable[[], object]] = st.session_state.setdefault(_ASKED_KEY, deque())
    return partial(asked.append, partial(action, *args))


def go(page: str) -> None:
    """Go to a page of `main.py` by its name, in this run or, if another run overtakes this one, in that."""
    st.session_state[_WANTED_KEY] = page


def wanted(page: str) -> str | None:
    """Name of the page to go to; None when it is `page`, which this run draws, or when there is none."""
    name: str | None = st.session_state.get(_WANTED_KEY)
    if name == page:
        st.session_state[_WANTED_KEY] = None
        return None
    return name


def arrive(page: str) -> None:
    """Carry the sentence over to another page.

    The field of the sentence stands on several pages; to Streamlit each is a widget of its own, which starts empty
    unless it is given its value.
    """
    if st.session_state.get(_PAGE_KEY) != page:
        st.session_state[_PAGE_KEY] = page
        st.session_state[TEXT_KEY] = st.session_state[TEXT_KEY]


def model() -> str | None:
    """Name of the model that this session has chosen, which need not exist; None when it has chosen none."""
    name: str | None = st.session_state.get(MODEL_KEY)
    return name


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
