"""Lesson route of 50 minutes: the present stop, and the way on."""

from __future__ import annotations

import streamlit as st

from viz_app.components.speaker_notes import speaker_notes
from viz_app.lessons import load_lesson
from viz_app.lessons.catalogue import LAB, LESSONS, ROUTE, next_stop
from viz_app.lessons.labels import teacher_note
from viz_app.lessons.stage import LessonState
from viz_app.state import session
from viz_app.text import Texts

OPEN_KEY = "lesson_open"  # name of the lesson that is open, or QUESTIONS; None for the index
LINKED_KEY = "lesson_linked"  # the lesson that the session's first address named
LAB_LINKED_KEY = "lab_linked"  # whether the session began in the Lab
_ROUTE = "lesson_route"  # whether this session follows the route
_PARAM, _ON = "route", "on"


def set_following(on: bool) -> None:
    """Start or leave the route."""
    st.session_state[_ROUTE] = on


def is_following() -> bool:
    """Return whether this session follows the route, at first from its address."""
    if _ROUTE not in st.session_state:
        st.session_state[_ROUTE] = st.query_params.get(_PARAM) == _ON
    return bool(st.session_state[_ROUTE])


def route_params() -> dict[str, str | None]:
    """Return the route's parameters of the address, for reloads and links."""
    return {_PARAM: _ON if is_following() else None}


def stop_title(t: Texts, name: str) -> str:
    """Return the title of a stop: of a lesson, of the page Translate, of the questions."""
    if name in {entry.name for entry in LESSONS}:
        return load_lesson(name, t.language).title
    return t(f"index.stop_{name}")


def open_stop(name: str) -> None:
    """Go to a stop: for `session.enqueue_callback`, or before another run."""
    if name in ("translate", LAB):
        return session.navigate_to(name)
    st.session_state[OPEN_KEY] = name
    if scene := route_scene(name):
        st.session_state.setdefault(state_key(name), LessonState(scene))
    session.navigate_to("lessons")


def route_scene(name: str) -> str:
    """Return the one scene of a lesson that the route has time for; "" for all, or outside the route."""
    return next((entry.opens_at for entry in LESSONS if entry.name == name and is_following()), "")


def open_scene(name: str, scene: str) -> None:
    """For `session.enqueue_callback`: go to a scene of a lesson, in its first state."""
    st.session_state[state_key(name)] = LessonState(scene)
    open_stop(name)


def open_index() -> None:
    """Leave the open lesson; the route goes on."""
    st.session_state[OPEN_KEY] = None


def draw_all_lessons(t: Texts) -> None:
    """Draw the way back to the index."""
    st.button(
        t("lessons.all"),
        key="all-lessons",
        icon=":material/arrow_back:",
        type="tertiary",
        on_click=session.enqueue_callback(open_index),
    )


def state_key(name: str) -> str:
    """Return the session key of a lesson's state."""
    return f"lesson-{name}-state"


def findings_key(name: str) -> str:
    """Return the session key of the findings pinned below a lesson's stage."""
    return f"lesson-{name}-findings"


def stage_key(name: str) -> str:
    """Return the key of a lesson's stage."""
    return session.fresh_key(f"lesson-{name}")


def draw_route(t: Texts, name: str) -> None:
    """Draw a line with the stop, its minutes, the previous and the next one, for a session on the route."""
    if not is_following() or name not in ROUTE:
        return
    stops = list(ROUTE)
    at = stops.index(name)
    with st.container(horizontal=True, vertical_alignment="center", key="route"):
        if at > 0:
            st.button(
                stop_title(t, stops[at - 1]),
                key="route-back",
                icon=":material/arrow_back:",
                type="tertiary",
                on_click=session.enqueue_callback(open_stop, stops[at - 1]),
            )
        place = t("index.progress", stop=at + 1, stops=len(stops), minutes=ROUTE[name])
        st.markdown(f"**{place}**", width="content")
        note = teacher_note(t.language, name)
        speaker_notes(t("index.notes"), title=stop_title(t, name), place=place, note=note, language=t.language)
        after = next_stop(name, on_route=True)
        if after:
            onward = t("index.next", title=stop_title(t, after))
            go = session.enqueue_callback(open_stop, after)
            st.button(onward, key="route-next", type="primary", on_click=go)
        st.button(
            t("index.leave" if after else "index.finish"),
            key="route-leave",
            type="tertiary" if after else "primary",
            on_click=session.enqueue_callback(_leave if after else _finish),
        )


def _leave() -> None:
    set_following(False)


def _finish() -> None:
    set_following(False)
    open_index()
