"""The lessons: an index, and one lesson at a time on its stage."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from viz_app.components.address import publish
from viz_app.components.try_this import links
from viz_app.lessons import load_lesson
from viz_app.lessons.catalogue import (
    CHAPTERS,
    INVALID_LESSONS,
    LESSONS,
    QUESTIONS,
    ROUTE,
    ROUTES,
    SHORT,
    Entry,
)
from viz_app.lessons.index import Stop, lesson_index
from viz_app.lessons.labels import read_labels
from viz_app.lessons.lesson_markdown import LessonError
from viz_app.lessons.start_here import start_html, start_style
from viz_app.state import session
from viz_app.state.selected_model import model_query_param
from viz_app.text import Texts
from viz_app.ui.escape_markdown import escape_markdown
from viz_app.ui.lesson_route import (
    LINKED_KEY,
    OPEN_KEY,
    draw_all_lessons,
    draw_route,
    follow_route,
    open_scene,
    open_stop,
    route_params,
    state_key,
)
from viz_app.ui.lessons.lesson_stage import IN_ADDRESS, LessonStage
from viz_app.ui.lessons.questions import draw_questions
from viz_app.ui.lessons.session_handout import draw_session_handouts
from viz_app.ui.model_picker import draw_models
from viz_app.ui.sentence_field import sentence_field
from viz_app.ui.share_menu import draw_for_home
from viz_app.ui.shared_row import shared_row


def main() -> None:
    """Draw the index, or the lesson that is open."""
    t = session.labels()
    names = {entry.name for entry in LESSONS}
    if OPEN_KEY not in st.session_state:
        st.session_state[OPEN_KEY] = st.session_state[LINKED_KEY] = st.query_params.get("lesson")
    if st.session_state[OPEN_KEY] == QUESTIONS:
        draw_questions(t)
        params = {"lang": t.language, "lesson": QUESTIONS, "model": model_query_param()} | route_params()
        publish(dict.fromkeys(IN_ADDRESS) | params, language=t.language, page="lessons")
    elif st.session_state[OPEN_KEY] in names:
        try:
            _draw_lesson(t, st.session_state[OPEN_KEY])
        except LessonError as error:
            st.error(escape_markdown(str(error)))
    else:
        _draw_index(t)


def _draw_index(t: Texts) -> None:
    """Draw Figure 1, the route, and below it the other lessons."""
    first = Stop("translate", t("index.stop_translate"), t("index.about_translate"), ROUTE["translate"])
    last = Stop(QUESTIONS, t("index.stop_questions"), t("index.about_questions"), ROUTE[QUESTIONS])
    stops, errors = _stops(t)
    route = [first, *(stop for entry, stop in stops if entry.name in ROUTE), last]
    others = {
        t(f"lessons.chapter_{chapter}"): [
            stop for entry, stop in stops if entry.chapter == chapter and entry.name not in ROUTE
        ]
        for chapter in CHAPTERS
    }
    with shared_row(key="index-head"):
        st.title(t("nav.lessons"), anchor=False, width="content")
        draw_models(t)
        draw_session_handouts(t)
    for error in errors:
        st.warning(t("lessons.invalid", problem=escape_markdown(str(error))))
    _draw_start_here(t)
    leaves = lesson_index(
        route,
        {title: stops for title, stops in others.items() if stops},
        texts=t.table("index") | {"start_short": t("index.start_short", minutes=sum(ROUTES[SHORT].values()))},
        language=t.language,
        sentence=st.session_state[session.TEXT_KEY],
        on_open=_open_stop,
    )
    if leaves:
        st.rerun()
    draw_for_home(t)
    params = {"lang": t.language, "model": model_query_param()} | route_params()
    publish(dict.fromkeys(IN_ADDRESS) | params, language=t.language, page="lessons")


def _draw_start_here(t: Texts) -> None:
    """Draw where to begin, and go there."""

    def address(lesson: str, scene: str) -> str:
        return f"lessons?{urlencode({'lang': t.language, 'lesson': lesson, 'scene': scene})}"

    html = start_html(t, {entry.name for entry in LESSONS}, address)
    if links(f"start_here_{t.language}", html, start_style(), lambda stop: open_scene(*stop.split("/"))):
        st.rerun()


def _open_stop(name: str) -> None:
    if name in ROUTES:
        follow_route(name)
    open_stop("translate" if name in ROUTES else name)


def _stops(t: Texts) -> tuple[list[tuple[Entry, Stop]], list[LessonError]]:
    """List the lessons of the index, and the errors of the others."""
    stops, errors = [], list(INVALID_LESSONS)
    for entry in LESSONS:
        try:
            read_labels(entry.name, t.language)
            words = load_lesson(entry.name, t.language)
        except LessonError as error:
            errors.append(error)
        else:
            about = words.title, words.summary, entry.minutes or 0, entry.stations
            stops.append((entry, Stop(entry.name, *about, opened=state_key(entry.name) in st.session_state)))
    return stops, errors


def _draw_lesson(t: Texts, name: str) -> None:
    """Draw a lesson on its stage, with the visitor's sentence above it."""
    read_labels(name, t.language)
    draw_route(t, name)
    text = _draw_head(t, load_lesson(name, t.language).title)
    LessonStage(t, name, text, linked=st.session_state.get(LINKED_KEY) == name).draw()


def _draw_head(t: Texts, title: str) -> str:
    """Draw the way back, the title and the sentence field. Returns the sentence."""
    with shared_row(key="sentence"):
        draw_all_lessons(t)
        st.title(title, anchor=False, width="content")
        return sentence_field(t)


if __name__ == "__main__":
    main()
