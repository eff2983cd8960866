"""The route of a session: where the class is, and the way on."""

from __future__ import annotations

import streamlit as st

from viz_app.lessons import load_lesson
from viz_app.lessons.catalogue import LESSONS, ROUTE, next_stop
from viz_app.state import session
from viz_app.text import Texts

OPEN_KEY = "lesson_open"  # name of the lesson that is open; None for the index
_ROUTE = "lesson_route"  # whether this session follows the route


def set_following(on: bool) -> None:
    """Start or leave the route."""
    st.session_state[_ROUTE] = on


def is_following() -> bool:
    """Whether this session follows the route."""
    return bool(st.session_state.get(_ROUTE))


def stop_title(t: Texts, name: str) -> str:
    """Title of a stop that can be opened: of a lesson, or of the page Translate."""
    if name in {entry.name for entry in LESSONS}:
        return load_lesson(name, t.language).title
    return t("index.stop_translate")


def open_stop(name: str) -> None:
    """Go to a stop: for `session.enqueue_callback`, or before another run."""
    if name != "translate":
        st.session_state[OPEN_KEY] = name
    session.navigate_to("translate" if name == "translate" else "lessons")


def draw_route(t: Texts, name: str) -> None:
    """A line with the stop, its minutes and the next one, while the session follows the route."""
    if not is_following() or name not in ROUTE:
        return
    stops = list(ROUTE)
    with st.container(horizontal=True, vertical_alignment="center", key="route"):
        st.caption(
            t("index.progress", stop=stops.index(name) + 1, stops=len(stops), minutes=ROUTE[name]), width="content"
        )
        after = next_stop(name, on_route=True)
        if after:
            onward = t("index.next", title=stop_title(t, after))
            st.button(onward, key="route-next", type="tertiary", on_click=session.enqueue_callback(open_stop, after))
        st.button(
            t("index.leave"),
            key="route-leave",
            type="tertiary",
            on_click=session.enqueue_callback(set_following, False),
        )
