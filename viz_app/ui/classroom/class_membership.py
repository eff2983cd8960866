"""Class of this session: the one that its browser teaches, or the one that it follows."""

from __future__ import annotations

import hmac
import json
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from typing import Any, TypeVar

import streamlit as st

from viz_app.classroom.following import watch_teacher
from viz_app.components.address import publish_always, published
from viz_app.components.explorer.selection import Selection
from viz_app.lessons.catalogue import LAB
from viz_app.lessons.stage import LessonState
from viz_app.serving.classes.class_store import class_store
from viz_app.serving.classes.classrooms import (
    MAX_VIEW,
    Classrooms,
    ClassView,
    NoSuchClass,
    NotTheTeacher,
    Place,
    is_code,
)
from viz_app.serving.classes.polls import PollResult, Question
from viz_app.serving.classes.remote_classrooms import ClassServerAway
from viz_app.serving.scheduling.rate_limit import RateLimit
from viz_app.serving.scheduling.visitor import current_browser, current_visitor, is_own_computer
from viz_app.serving.settings import teacher_key
from viz_app.state import session
from viz_app.state.share_link import base_path
from viz_app.text import Texts
from viz_app.ui.lesson_route import OPEN_KEY, state_key

PAGE = "classroom"
PARAM = "class"  # of the address that a student opens

_TAUGHT = "class_taught"  # code of the class that this browser teaches; None without one
_LEADS = "class_leads"  # whether the class follows this screen
_FOLLOWED = "class_followed"  # code of the class that this session follows; None without one
_FOLLOWS = "class_follows"  # whether it goes along, or has let go for now
_MOVES = "class_moves"  # the last change of place that it has made
_WAITING = "class_question"  # the question that is asked as soon as there is a class
_MAY_OPEN = "class_may_open"  # whether the teacher key was typed
_FOLLOWED_PARAMS = ("text", "model", "lesson")

TRIES_PER_MINUTE = 12  # of the teacher key, of one address
TRY_BURST = 10

_tries = RateLimit(TRIES_PER_MINUTE / 60, TRY_BURST)
_log = logging.getLogger(__name__)

Value = TypeVar("Value")


class TooManyTries(Exception):
    """Too many teacher keys were tried from one address."""


# --- the teacher ------------------------------------------------------------------------------------------------------


def taught_class() -> str | None:
    """Return the code of the class that this browser teaches; None without one."""
    if _TAUGHT not in st.session_state:
        browser = current_browser()
        try:
            class_code = class_store().code_of(browser) if browser else None
            st.session_state[_LEADS] = bool(class_code and class_store().look(class_code, browser or "").is_led)
        except ClassServerAway:  # the page Class says so; the others do without
            return None
        st.session_state[_TAUGHT] = class_code
    code: str | None = st.session_state[_TAUGHT]
    return code


def _teach(act: Callable[[Classrooms, str, str], Value]) -> Value | None:
    """Call `act(store, code, browser)` for the class that this browser teaches; None without one, or when it has ended.

    Raises:
        ClassServerAway: The server of the classes does not answer.
    """
    code, browser = taught_class(), current_browser()
    if code is None or browser is None:
        return None
    try:
        return act(class_store(), code, browser)
    except (NoSuchClass, NotTheTeacher):
        _forget()
        return None


def class_view() -> ClassView | None:
    """Return the present state of the class that this browser teaches; None without one, or when it has ended."""
    return _teach(lambda store, code, browser: store.look(code, browser))


def needs_teacher_key() -> bool:
    """Return whether this session needs the server's teacher key to open a class.

    The server's own computer needs none.
    """
    return bool(teacher_key()) and not st.session_state.get(_MAY_OPEN) and not is_own_computer()


def try_teacher_key(typed: str) -> bool:
    """Return whether a key is the server's; if so, this session may open classes from now on.

    Raises:
        TooManyTries: Too many keys came from this address.
    """
    address = current_visitor().address
    if not _tries.allows(address):
        raise TooManyTries
    if hmac.compare_digest(typed.strip().encode(), teacher_key().encode()):
        st.session_state[_MAY_OPEN] = True
    else:
        _log.warning("a wrong teacher key from %r", address)
    return bool(st.session_state.get(_MAY_OPEN))


def open_class() -> None:
    """Open a class for this browser, and ask the waiting question. Raises TooManyClasses."""
    browser = current_browser()
    if browser is None or needs_teacher_key():
        return
    st.session_state[_TAUGHT] = class_store().open(browser, current_visitor().address)
    question = st.session_state.pop(_WAITING, None)
    if question is not None:
        ask(question)


def ask(question: Question) -> None:
    """For `enqueue_callback`: ask the class, now or as soon as it is open, and show the page Class."""
    st.session_state[_WAITING] = question

    def ask_now(store: Classrooms, code: str, browser: str) -> None:
        store.ask(code, browser, question)
        del st.session_state[_WAITING]

    _teach(ask_now)
    session.navigate_to(PAGE)


def waiting_question() -> Question | None:
    """Return the question to ask as soon as there is a class."""
    question: Question | None = st.session_state.get(_WAITING)
    return question


def end_class() -> None:
    """For `enqueue_callback`: forget the class and its answers."""
    _teach(lambda store, code, browser: store.end(code, browser))
    _forget()


def poll_results() -> tuple[PollResult, ...]:
    """Return the results of all polls of the class that this browser teaches."""
    with suppress(ClassServerAway):
        return _teach(lambda store, code, browser: store.results(code, browser)) or ()
    return ()


def set_leading(is_led: bool) -> None:
    """For `enqueue_callback`: set whether the class follows this screen."""

    def lead(store: Classrooms, code: str, browser: str) -> None:
        store.lead(code, browser, is_led)
        st.session_state[_LEADS] = is_led

    _teach(lead)


def is_leading() -> bool:
    """Return whether the class follows this screen."""
    return taught_class() is not None and bool(st.session_state.get(_LEADS))


def show_place(page: str) -> None:
    """Tell the class this screen's place, after its page was drawn.

    Args:
        page: Path of the page, "" for the home.
    """
    if page == PAGE or not is_leading():
        return
    params = {name: value for name, value in published().items() if name in _FOLLOWED_PARAMS}
    place = Place(page=page, params=params, view=_view(page))
    with suppress(ClassServerAway):  # the next run sends it
        _teach(lambda store, code, browser: store.show_place(code, browser, place))


def _view(page: str) -> str:
    """Return the state of a page's view for `common/followed_view.js`; "" for a page without one."""
    if page == "":
        selection: Selection | None = st.session_state.get(session.SELECTION_KEY)
        view: dict[str, Any] = {} if selection is None else {"selection": asdict(selection)}
    else:
        name = LAB if page == LAB else st.session_state.get(OPEN_KEY) if page == "lessons" else None
        state: LessonState | None = st.session_state.get(state_key(name)) if name else None
        view = {} if state is None else {"lesson": name, **state.to_dict()}
    text = json.dumps(view) if view else ""
    return text if len(text) <= MAX_VIEW else ""


def _forget() -> None:
    st.session_state[_TAUGHT], st.session_state[_LEADS] = None, False


# --- a student --------------------------------------------------------------------------------------------------------


def followed_class() -> str | None:
    """Return the code of the class that this session follows, at first from its address."""
    if _FOLLOWED not in st.session_state:
        code = st.query_params.get(PARAM, "").upper()
        st.session_state[_FOLLOWED] = code if is_code(code) else None
    followed: str | None = st.session_state[_FOLLOWED]
    return followed


def is_following_teacher() -> bool:
    """Return whether this screen follows the teacher now."""
    return followed_class() is not None and bool(st.session_state.setdefault(_FOLLOWS, True))


def set_following_teacher(follows: bool) -> None:
    """For `enqueue_callback`: stop following, or follow again."""
    st.session_state[_FOLLOWS] = follows
    st.session_state[_MOVES] = 0


def leave_class() -> None:
    """For `enqueue_callback`: leave the class."""
    st.session_state[_FOLLOWED] = None


def follow(t: Texts, page: str, pages: frozenset[str]) -> None:
    """Go to the teacher's place, before the page is drawn.

    Args:
        t: Labels.
        page: Path of the page that is open, "" for the home.
        pages: Paths of the pages that there are.
    """
    code, browser = followed_class(), current_browser()
    publish_always({PARAM: code})
    if code is None or browser is None or not is_following_teacher() or code == taught_class():
        return
    moves: int = st.session_state.get(_MOVES, 0)
    count = watch_teacher(base_path(st.context.url or "", page), code, moves, t.language)
    if count is None or count == moves:
        return
    try:
        view = class_store().look(code, browser)
    except NoSuchClass:
        st.session_state[_FOLLOWED] = None
        return
    except ClassServerAway:  # the browser asks again
        return
    # The number that the browser asked for, although the class may be further: the browser then asks again, and its
    # request brings the old sentence of a text field that it has not redrawn yet, which `_go` replaces once more.
    st.session_state[_MOVES] = count
    if view.place is not None and view.place.page in pages:
        _go(view.place)


def _go(place: Place) -> None:
    """Set the page of a place as the next one; its components fetch the state of their view."""
    if "text" in place.params:
        st.session_state[session.TEXT_KEY] = place.params["text"]
    st.session_state[session.MODEL_KEY] = place.params.get("model")
    if place.page == "lessons":
        st.session_state[OPEN_KEY] = place.params.get("lesson")
    session.navigate_to(place.page or "translate")
