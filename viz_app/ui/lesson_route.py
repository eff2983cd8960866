"""Lesson routes of 50 and 15 minutes: the present stop, and the way on."""

from __future__ import annotations

import streamlit as st

from viz_app.components.speaker_notes import speaker_notes
from viz_app.lessons import load_lesson
from viz_app.lessons.catalogue import LAB, LESSONS, ROUTES, core_scenes, next_stop
from viz_app.lessons.labels import teacher_note
from viz_app.lessons.stage import LessonState
from viz_app.state import session
from viz_app.text import Texts

OPEN_KEY = "lesson_open"  # name of the lesson that is open, or QUESTIONS; None for the index
LINKED_KEY = "lesson_linked"  # the lesson that the session's first address named
LAB_LINKED_KEY = "lab_linked"  # whether the session began in the Lab
_ROUTE = "lesson_route"  # the route that this session follows; "" for none
_PARAM = "route"


def follow_route(route: str) -> None:
    """Start a route, or leave it with ""."""
    st.session_state[_ROUTE] = route


def followed_route() -> str:
    """Return the route that this session follows, at first from its address; "" for none."""
    if _ROUTE not in st.session_state:
        route = st.query_params.get(_PARAM, "")
        st.session_state[_ROUTE] = route if route in ROUTES else ""
    return str(st.session_state[_ROUTE])


def route_params() -> dict[str, str | None]:
    """Return the route's parameters of the address, for reloads and links."""
    return {_PARAM: followed_route() or None}


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
    if core := core_scenes(name, followed_route()):
        st.session_state.setdefault(state_key(name), LessonState(core[0]))
    session.navigate_to("lessons")


def go_on(name: str) -> None:
    """Go on to a stop; on a route to its first core scene, whichever was open before."""
    if followed_route():
        st.session_state.pop(state_key(name), None)
    open_stop(name)


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


def predictions() -> dict[tuple[str, str], int]:
    """Return this session's first prediction for each lesson and scene: the number of a choice."""
    answers: dict[tuple[str, str], int] = st.session_state.setdefault("lesson_predictions", {})
    return answers


def stage_key(name: str) -> str:
    """Return the key of a lesson's stage."""
    return f"lesson-{name}"


def draw_route(t: Texts, name: str) -> None:
    """Draw a line with the stop, its minutes and the one before, for a session on a route.

    The way on is below the words of a scene. Only a stop without scenes has its button here.
    """
    route = ROUTES.get(followed_route(), {})
    if name not in route:
        return
    stops = list(route)
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
        place = t("index.progress", stop=at + 1, stops=len(stops), minutes=route[name])
        st.markdown(f"**{place}**", width="content")
        note = teacher_note(t.language, name)
        speaker_notes(t("index.notes"), title=stop_title(t, name), place=place, note=note, language=t.language)
        after = next_stop(name, followed_route())
        if after and name == "translate":
            onward = t("index.next", title=stop_title(t, after))
            go = session.enqueue_callback(go_on, after)
            st.button(onward, key="route-next", type="primary", on_click=go)
        st.button(
            t("index.leave" if after else "index.finish"),
            key="route-leave",
            type="tertiary" if after else "primary",
            on_click=session.enqueue_callback(_leave if after else _finish),
        )


def _leave() -> None:
    follow_route("")


def _finish() -> None:
    _leave()
    open_index()
