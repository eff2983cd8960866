"""The lessons: an index, and one lesson at a time on its stage."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from viz_app.components.address import publish
from viz_app.components.events import last_answered
from viz_app.figure_editor.lesson_figure_spec import LessonFigureSpec
from viz_app.figure_editor.rendering import ExportableFigure
from viz_app.figures import Style
from viz_app.lessons import Lesson, load_lesson
from viz_app.lessons.catalogue import (
    CHAPTERS,
    INVALID_LESSONS,
    LESSONS,
    QUESTIONS,
    ROUTE,
    Entry,
    lesson_module,
    next_stop,
    scene_selection,
)
from viz_app.lessons.context import LessonContext
from viz_app.lessons.handout import render_handout
from viz_app.lessons.index import Stop, lesson_index
from viz_app.lessons.labels import read_labels
from viz_app.lessons.parser import LessonError
from viz_app.lessons.scene_figure import figure_with_provenance, fit_sentence
from viz_app.lessons.small_target import writes_other_language
from viz_app.lessons.stage import (
    LessonState,
    last_report,
    pack,
    pack_live_data,
    push_live_data,
    settings_from_param,
    settings_to_param,
    stage,
)
from viz_app.serving import loader
from viz_app.serving.request_queue import Superseded
from viz_app.state import session
from viz_app.state.selected_model import model_query_param
from viz_app.text import Texts
from viz_app.ui.downloads import draw_download, in_turn
from viz_app.ui.edit_links import edit_scene_in_figures, open_in_translate
from viz_app.ui.escape_markdown import escape_markdown
from viz_app.ui.lesson_route import (
    OPEN_KEY,
    draw_all_lessons,
    draw_route,
    is_following,
    open_stop,
    route_params,
    scene_of_session,
    set_following,
    state_key,
    stop_title,
)
from viz_app.ui.model_picker import draw_models, load_service
from viz_app.ui.questions import draw_questions
from viz_app.ui.sentence_field import sentence_field
from viz_app.ui.session_handout import draw_session_handouts
from viz_app.ui.share_menu import draw_share, share_data
from viz_app.ui.shared_across_pages import shared_row

_LINKED = "lesson_linked"  # the lesson that the session's first address named
_DRAWN = "lesson_drawn"  # of which data the picture below the stage is made
_LIVE_SECONDS = 0.8
_FROM_ADDRESS = ("lesson", "scene", "with")


def main() -> None:
    """Draw the index, or the lesson that is open."""
    t = session.labels()
    names = {entry.name for entry in LESSONS}
    if OPEN_KEY not in st.session_state:
        st.session_state[OPEN_KEY] = st.session_state[_LINKED] = st.query_params.get("lesson")
    if st.session_state[OPEN_KEY] == QUESTIONS:
        draw_questions(t)
        params = {"lang": t.language, "lesson": QUESTIONS, "model": model_query_param()} | route_params()
        publish(dict.fromkeys(_FROM_ADDRESS) | params, language=t.language, page="lessons")
    elif st.session_state[OPEN_KEY] in names:
        try:
            _draw_lesson(t, st.session_state[OPEN_KEY])
        except LessonError as error:
            st.error(escape_markdown(str(error)))
    else:
        _draw_index(t)


def _draw_index(t: Texts) -> None:
    """Figure 1 and the route; what is not on the route stands below it."""
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
        draw_models(t)
        draw_session_handouts(t)
    for error in errors:
        st.warning(t("lessons.invalid", problem=escape_markdown(str(error))))
    leaves = lesson_index(
        route,
        {title: stops for title, stops in others.items() if stops},
        texts=t.table("index"),
        language=t.language,
        sentence=st.session_state[session.TEXT_KEY],
        on_open=_open_stop,
    )
    if leaves:
        st.rerun()
    params = {"lang": t.language, "model": model_query_param()} | route_params()
    publish(dict.fromkeys(_FROM_ADDRESS) | params, language=t.language, page="lessons")


def _open_stop(name: str) -> None:
    if name == "route":
        set_following(True)
    open_stop("translate" if name == "route" else name)


def _stops(t: Texts) -> tuple[list[tuple[Entry, Stop]], list[LessonError]]:
    """The lessons as the index lists them, and what is wrong with those that it cannot."""
    stops, errors = [], list(INVALID_LESSONS)
    for entry in LESSONS:
        try:
            read_labels(entry.name, t.language)
            words = load_lesson(entry.name, t.language)
        except LessonError as error:
            errors.append(error)
        else:
            stops.append((entry, Stop(entry.name, words.title, words.summary, entry.minutes or 0, entry.stations)))
    return stops, errors


def _draw_lesson(t: Texts, name: str) -> None:
    """A lesson on its stage, with the visitor's sentence above it."""
    read_labels(name, t.language)
    words = load_lesson(name, t.language)
    draw_route(t, name)
    text = _draw_head(t, words.title)
    key = f"lesson-{name}"
    state = _in_lesson(words, last_report(key) or st.session_state.get(state_key(name)) or _start(name))
    after = next_stop(name, on_route=is_following())
    served = load_service(t)
    again = partial(loader.get_translation_service, served.name)  # by name: a download calls it in another thread
    context = LessonContext(fit_sentence(text, served.translator), state, t.language, again, session.session_id())
    if any(entry.needs_small_models for entry in LESSONS if entry.name == name) and writes_other_language(context):
        st.caption(t("lessons.small_german"))
    if getattr(lesson_module(name), "SHOWS_SMALL_TRANSLATIONS", False):
        st.caption(t("lessons.small_wrong"))
    try:
        numbers = lesson_module(name).data(context)
    except Superseded:
        st.stop()
    share = share_data(t, "lessons", _params(t, name, context))
    payload = pack(
        words,
        values=numbers.values,
        arrays=numbers.arrays,
        answers=numbers.answers,
        texts=t.table("lesson") | context.t.table(f"lesson_{name}"),
        state=state,
        onward=stop_title(t, after) if after else None,
        onward_from=scene_of_session(name),
        share=share,
    )
    state, leaves = stage(name, payload, key=key, state=state, on_onward=partial(_leave, after))
    st.session_state[state_key(name)] = state = _in_lesson(words, state)
    if leaves:
        st.rerun()
    context = dataclasses.replace(context, state=state)
    params = _params(t, name, context)
    if state.scene in getattr(lesson_module(name), "LIVE_SCENES", ()):
        st.session_state.pop(_DRAWN, None)
        _follow(name, context)
    _draw_takeaways(t, name, context, params)
    publish(params, language=t.language, page=f"lesson-{name}")


def _in_lesson(words: Lesson, state: LessonState) -> LessonState:
    """The state, at the first scene where it names one that the lesson does not have, as an old link may."""
    return state if state.scene in {scene.name for scene in words.scenes} else dataclasses.replace(state, scene="")


def _params(t: Texts, name: str, context: LessonContext) -> dict[str, str | None]:
    """What the address says of a lesson."""
    return {
        "lang": t.language,
        "lesson": name,
        "scene": context.state.scene or None,
        "with": settings_to_param(context.state.settings),
        "text": context.text,
        "model": model_query_param(),
        **route_params(),
    }


def _leave(after: str | None) -> None:
    if after:
        open_stop(after)


@st.fragment(run_every=_LIVE_SECONDS)
def _follow(name: str, context: LessonContext) -> None:
    """What goes on at the server, for as long as the scene that shows it is open."""
    module: Any = lesson_module(name)
    numbers, key = module.live_data(context), f"live-{name}"
    message = pack_live_data(
        name,
        context.state.scene,
        values=numbers.values,
        arrays=numbers.arrays,
        acknowledged=last_answered(key),
        beat=0 if numbers.arrays else time.monotonic(),  # the stage may come later than the first message
    )
    if button := push_live_data(message, key=key):
        module.on_button(context, button)
    known = st.session_state.setdefault(_DRAWN, numbers.drawn)
    if numbers.drawn is not None and numbers.drawn != known:
        st.rerun()  # the whole page, which offers the picture below the stage


def _start(name: str) -> LessonState:
    """Where a lesson starts: as the link that opened this session says, when it was a link to this lesson."""
    if st.session_state.get(_LINKED) != name:
        return LessonState()
    report = {
        "scene": st.query_params.get("scene", ""),
        "settings": settings_from_param(st.query_params.get("with", "")),
    }
    return LessonState.from_report(report) or LessonState()


def _draw_takeaways(t: Texts, name: str, context: LessonContext, params: Mapping[str, str | None]) -> None:
    """What can be taken along: the scene as a file for print, the handout, the link."""
    drawn = figure_with_provenance(name, context)
    with st.container(horizontal=True, key="takeaways"):
        # What is always there comes first, so that nothing changes its place from scene to scene.
        st.download_button(
            t("handout.download"),
            data=in_turn(partial(render_handout, name, context)),
            file_name=f"headlight_{name}_{t.language}.html",
            mime="text/html",
            icon=":material/print:",
            on_click="ignore",
        )
        draw_share(t, "lessons", params)
        if drawn is not None:
            _draw_downloads(
                t, ExportableFigure(drawn, Style(), language=t.language), LessonFigureSpec(name, context.state)
            )
        _draw_head_opener(t, name, context)


def _draw_downloads(t: Texts, drawn: ExportableFigure, scene: LessonFigureSpec) -> None:
    with st.popover(t("translate.download"), icon=":material/download:"):
        with st.container(horizontal=True):
            for format in drawn.formats:
                draw_download(format, drawn.file, drawn.file_name(format), "download-lesson")
        edit = session.enqueue_callback(edit_scene_in_figures, scene)
        st.button(t("studio.edit"), key="edit-in-figures", icon=":material/draw:", on_click=edit)
        st.code(drawn.command("pdf"), language=None, wrap_lines=True)


def _draw_head_opener(t: Texts, name: str, context: LessonContext) -> None:
    """A button that opens the head of the scene on the page Translate, where the scene shows one."""
    scene = context.state.scene or load_lesson(name, t.language).scenes[0].name
    shown = scene_selection(name, scene, context)
    if shown is None:
        return
    label = t("lessons.open_head", kind=t(f"explorer.kind_{shown.kind}"), head=f"{shown.layer + 1}.{shown.head + 1}")
    st.button(
        label, key="open-head", icon=":material/translate:", on_click=session.enqueue_callback(open_in_translate, shown)
    )


def _draw_head(t: Texts, title: str) -> str:
    """The way back, the title, and the field of the sentence. Returns what is typed there."""
    with shared_row(key="sentence"):
        draw_all_lessons(t)
        st.markdown(f"**{title}**", width="content")
        draw_models(t)
        return sentence_field(t)


if __name__ == "__main__":
    main()
