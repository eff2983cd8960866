"""Session of one visitor: its id, the language, the sentence, the model."""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from viz_app.serving.input_validation import MAX_CHARACTERS
from viz_app.serving.models.registry import available_models, is_parser, source_language
from viz_app.serving.streamlit_patches import reported_text
from viz_app.text import Texts, best_language, texts
from viz_app.text.examples import counterpart, first_example

LANGUAGE_KEY = "lang"
_KEPT_LANGUAGE_KEY = "lang_spoken"  # a copy that outlives the widget
TEXT_KEY = "text"
_KEPT_TEXT_KEY = "text_kept"  # the last text that was short enough
_REFUSED_KEY = "text_refused"  # characters of a text that was too long, until another one is typed
MODEL_KEY = "model"  # name of the model that the visitor has chosen; None for the one that is served to all
EXPLORER = "explorer"  # key of the explorer of Translate
SELECTION_KEY = "selection"  # what the explorer of Translate shows
FIGURE_SPEC_KEY = "figure_spec"  # what the page Figures makes
FIGURE_SOURCE_KEY = "figure_source"  # the model and the sentence that it was made of
FIGURE_SELECTION_KEY = "figure_selection"  # the explorer's selection as that page knows it
ZOOM_KEY = "figure_zoom"
HEAD_OFF_KEY = "head_off"  # the head that is switched off in the explorer of Translate
_PAGE_KEY = "page"
_PENDING_CALLBACKS_KEY = "asked"  # callbacks of clicks that no run has finished yet
_PENDING_PAGE_KEY = "wanted_page"  # name of the page to go to, until it is drawn


def initialise() -> None:
    """Fill a new session from its URL and from the browser's language. Does nothing later on."""
    if LANGUAGE_KEY not in st.session_state:
        language = st.session_state.get(_KEPT_LANGUAGE_KEY)
        st.session_state[LANGUAGE_KEY] = language or best_language(st.query_params.get("lang"), st.context.locale)
    # Streamlit forgets a widget's value when a run ends before the widget is drawn, as a change of page may do.
    st.session_state[_KEPT_LANGUAGE_KEY] = st.session_state[LANGUAGE_KEY]
    if MODEL_KEY not in st.session_state:
        st.session_state[MODEL_KEY] = st.query_params.get("model")
    if TEXT_KEY not in st.session_state:
        text = reported_text(TEXT_KEY)  # newer than the address
        linked = st.query_params.get("text", _first_text()).replace("\n", " ")  # a sentence has one line
        st.session_state[TEXT_KEY] = linked if text is None else text
    _refuse_long_text()


def _first_text() -> str:
    """Return an example for the model of this session; nothing where there is none in its language."""
    return first_example(source_language(_present_model()))


def _present_model() -> str:
    """Name of the selected model; of the default one when none is selected or it is missing."""
    available, requested = available_models(), requested_model()
    return requested if requested in available else next(iter(available))


def follow_languages(old: str, new: str) -> None:
    """Of an example in the field, put the same one in the language of another model; a text of one's own stays."""
    text, reads = st.session_state.get(TEXT_KEY) or "", (source_language(old), source_language(new))
    if reads[0] != reads[1] and (example := counterpart(text, *reads)) not in (None, text):
        st.session_state[TEXT_KEY] = example


def _refuse_long_text() -> None:
    """Put the last text back where a too long one has come; the session keeps nothing of it."""
    text, before = st.session_state[TEXT_KEY] or "", st.session_state.get(_KEPT_TEXT_KEY)
    if len(text) > MAX_CHARACTERS:
        st.session_state[_REFUSED_KEY] = len(text)
        st.session_state[TEXT_KEY] = _first_text() if before is None else before
    elif text != before:
        st.session_state[_REFUSED_KEY] = None
        st.session_state[_KEPT_TEXT_KEY] = text


def refused_characters() -> int | None:
    """Characters of the text that was refused because it is too long; None when the present one is the last typed."""
    count: int | None = st.session_state.get(_REFUSED_KEY)
    return count


def run_pending_callbacks() -> None:
    """Run the callbacks that clicks have enqueued with `enqueue_callback`.

    Raises:
        Exception: The exception of a callback. It is not tried again; later callbacks wait for the next run.
    """
    asked: deque[Callable[[], object]] = st.session_state.setdefault(_PENDING_CALLBACKS_KEY, deque())
    while asked:
        try:
            asked[0]()
        except Exception:
            asked.popleft()  # it would fail in each run to come
            raise
        asked.popleft()  # only on success; a rerun leaves it queued


def enqueue_callback(action: Callable[..., object], *args: Any) -> Callable[[], None]:
    """Return a function for `on_click` that has `run_pending_callbacks` call `action(*args)` at least once.

    If the report of a component triggers a rerun before the button is drawn, Streamlit drops the click. And reading
    the session's state ends a callback silently if another run waits. So the callback only queues the action.
    """
    asked: deque[Callable[[], object]] = st.session_state.setdefault(_PENDING_CALLBACKS_KEY, deque())
    return partial(asked.append, partial(action, *args))


def navigate_to(page: str) -> None:
    """Go to a page of `main.py` by its name, in this run or, if another run overtakes this one, in that."""
    st.session_state[_PENDING_PAGE_KEY] = page


def pending_page(page: str) -> str | None:
    """Name of the page to go to; None when it is `page`, which this run draws, or when there is none."""
    name: str | None = st.session_state.get(_PENDING_PAGE_KEY)
    if name == page:
        st.session_state[_PENDING_PAGE_KEY] = None
        return None
    return name


def restore_text_widget(page: str) -> None:
    """Carry the typed sentence over when the page changes.

    Several pages show the text field; to Streamlit each is a widget of its own, which starts empty unless its value is
    set again.
    """
    if st.session_state.get(_PAGE_KEY) != page:
        st.session_state[_PAGE_KEY] = page
        st.session_state[TEXT_KEY] = st.session_state[TEXT_KEY]


def requested_model() -> str | None:
    """Name of the model that this session has chosen, which need not exist; None when it has chosen none."""
    name: str | None = st.session_state.get(MODEL_KEY)
    return name


def session_id() -> str:
    """Return the random name of this session."""
    name: str = st.session_state.setdefault("session_id", uuid.uuid4().hex)
    return name


def language() -> str:
    """Code of the language that this session reads."""
    return best_language(st.session_state.get(LANGUAGE_KEY))


def labels() -> Texts:
    """Return the labels in the language of this session, fit for its model."""
    name = _present_model()
    return texts(language(), parses=is_parser(name), source=source_language(name))
