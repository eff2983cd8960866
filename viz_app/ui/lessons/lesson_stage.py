"""A lesson, or the Lab, on its stage: numbers in, what the reader does out, and what can be taken along."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from viz_app.components.address import publish
from viz_app.components.events import last_answered
from viz_app.explorer_view.snapshot import opening_view
from viz_app.figure_editor.lesson_figure_spec import LessonFigureSpec
from viz_app.figure_editor.rendering import ExportableFigure
from viz_app.figures import Style
from viz_app.lessons import Lesson, load_lesson
from viz_app.lessons.catalogue import LAB, LESSONS, lesson_module, next_stop, scene_selection
from viz_app.lessons.context import LessonContext
from viz_app.lessons.handout import render_handout
from viz_app.lessons.labels import read_labels
from viz_app.lessons.scene_figure import figure_with_provenance, fit_sentence
from viz_app.lessons.small_target import small_source, writes_other_language
from viz_app.lessons.stage import (
    LessonState,
    last_findings,
    last_report,
    pack,
    pack_live_data,
    push_live_data,
    settings_from_param,
    settings_to_param,
    stage,
)
from viz_app.serving.decoding.batching import DeadlineExceeded
from viz_app.serving.models import loader
from viz_app.serving.scheduling.request_queue import Superseded
from viz_app.state import session
from viz_app.state.selected_model import model_query_param
from viz_app.text import Texts
from viz_app.ui.classroom.class_frame import draw_ask_scene
from viz_app.ui.downloads import draw_download, in_turn
from viz_app.ui.edit_links import draw_card_opener, edit_scene_in_figures, open_in_translate
from viz_app.ui.lesson_route import (
    findings_key,
    is_following,
    open_stop,
    route_params,
    scene_of_session,
    stage_key,
    state_key,
    stop_title,
)
from viz_app.ui.lessons.long_computation import LongComputation
from viz_app.ui.menu import menu
from viz_app.ui.model_picker import load_service
from viz_app.ui.share_menu import draw_share, share_data

_DRAWN = "lesson_drawn"  # of which data the picture below the stage is made
_LIVE_SECONDS = 0.8
IN_ADDRESS = ("lesson", "scene", "with")  # what an address says of a stage


def draw_stage(t: Texts, name: str, typed: str, *, linked: bool) -> None:
    """Draw the stage, what can be taken along, and the address.

    Args:
        t: Labels in the visitor's language.
        name: Of the lesson.
        typed: The visitor's sentence.
        linked: Whether the address that this session began with leads here, and so says where it starts.

    Raises:
        LessonError: A file of the lesson is invalid.
    """
    read_labels(name, t.language)
    words = load_lesson(name, t.language)
    key = stage_key(name)
    state = _in_lesson(words, last_report(key) or st.session_state.get(state_key(name)) or _start(linked))
    after = next_stop(name, on_route=is_following())
    served = load_service(t)
    again = partial(loader.get_translation_service, served.name)  # by name: a download calls it in another thread
    sentence = fit_sentence(typed, served)
    context = LessonContext(sentence, state, t.language, again, session.session_id(), parses=served.parses)
    _draw_remarks(t, name, context)
    long = None
    if name == LAB:
        asked = (state.scene, context.text, served.name)
        long = LongComputation(context.t, asked)
        context = dataclasses.replace(context, stopped=long.stopped, late=long.late, watched=long.watched)
    try:
        if context.stopped:
            served.give_up(session.session_id())
        numbers = lesson_module(name).data(context)
    except Superseded:
        st.stop()
    except DeadlineExceeded:
        if long is None:
            raise
        long.end_late()
        context = dataclasses.replace(context, stopped=True, late=True)
        numbers = lesson_module(name).data(context)
    if long is not None:
        long.clear()
    share = share_data(t, _page(name), _params(t, name, context))
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
        findings=st.session_state.get(findings_key(name), ()),
    )
    state, leaves = stage(name, payload, key=key, state=state, on_onward=partial(_leave, after))
    st.session_state[state_key(name)] = state = _in_lesson(words, state)
    if (findings := last_findings(key)) is not None:
        st.session_state[findings_key(name)] = findings
    if leaves:
        st.rerun()
    context = dataclasses.replace(context, state=state)
    params = _params(t, name, context)
    if state.scene in getattr(lesson_module(name), "LIVE_SCENES", ()):
        st.session_state.pop(_DRAWN, None)
        _follow(name, context)
    figure = _draw_takeaways(t, name, context, params)
    _draw_recipe(t, name, context, figure)
    publish(params, language=t.language, page=f"lesson-{name}")


def _draw_remarks(t: Texts, name: str, context: LessonContext) -> None:
    """What the reader should know of a lesson's small models, and of a model whose output is a tree."""
    if name != LAB and context.parses:
        st.caption(t("lessons.of_trees"))
    if any(entry.needs_small_models for entry in LESSONS if entry.name == name) and writes_other_language(context):
        read = small_source(context)
        st.caption(t("lessons.small_german") if read == context.text else t("lessons.small_read", sentence=read))
    if not context.service.examples:
        st.caption(t("lessons.english_examples"))
    if getattr(lesson_module(name), "SHOWS_SMALL_TRANSLATIONS", False):
        st.caption(t("lessons.small_wrong"))


def _page(name: str) -> str:
    return LAB if name == LAB else "lessons"


def _in_lesson(words: Lesson, state: LessonState) -> LessonState:
    """The state, at the first scene where it names one that the lesson does not have, as an old link may."""
    return state if state.scene in {scene.name for scene in words.scenes} else dataclasses.replace(state, scene="")


def _params(t: Texts, name: str, context: LessonContext) -> dict[str, str | None]:
    """What the address says of a lesson."""
    return {
        "lang": t.language,
        "lesson": None if name == LAB else name,
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


def _start(linked: bool) -> LessonState:
    """Where a stage starts: as the link that opened this session says, when it was a link to this one."""
    if not linked:
        return LessonState()
    report = {
        "scene": st.query_params.get("scene", ""),
        "settings": settings_from_param(st.query_params.get("with", "")),
    }
    return LessonState.from_report(report) or LessonState()


def _draw_takeaways(
    t: Texts, name: str, context: LessonContext, params: Mapping[str, str | None]
) -> ExportableFigure | None:
    """What can be taken along: the scene as a file for print, the handout, the link. Returns the file."""
    drawn = figure_with_provenance(name, context)
    figure = None if drawn is None else ExportableFigure(drawn, Style(), language=t.language)
    with st.container(horizontal=True, key="takeaways"):
        # What is always there comes first, so that nothing changes its place from scene to scene.
        if name != LAB:
            st.download_button(
                t("handout.download"),
                data=in_turn(partial(render_handout, name, context)),
                file_name=f"headlight_{name}_{t.language}.html",
                mime="text/html",
                icon=":material/print:",
                on_click="ignore",
            )
        draw_share(t, _page(name), params)
        scene = _scene(t, name, context)
        draw_ask_scene(t, name, next(each for each in load_lesson(name, t.language).scenes if each.name == scene))
        if figure is not None:
            _draw_downloads(t, figure, LessonFigureSpec(name, context.state))
        _draw_head_opener(t, name, context)
    return figure


def _draw_recipe(t: Texts, name: str, context: LessonContext, figure: ExportableFigure | None) -> None:
    """How to make the numbers again without the app, where the module of the stage says it."""
    make = getattr(lesson_module(name), "recipe", None)
    recipe = make(_scene(t, name, context), context) if make else None
    if recipe is None:
        return
    with st.expander(t("lessons.recipe"), icon=":material/terminal:"):
        # Where the core has no command for it, the app's writes the same numbers.
        if command := recipe.command or (figure.command("npz") if figure else ""):
            st.code(command, language="bash", wrap_lines=True)
        st.code(recipe.python, language="python", wrap_lines=True)


def _scene(t: Texts, name: str, context: LessonContext) -> str:
    """Name of the scene that is open."""
    return context.state.scene or load_lesson(name, t.language).scenes[0].name


def _draw_downloads(t: Texts, drawn: ExportableFigure, scene: LessonFigureSpec) -> None:
    with menu(t("translate.download"), key="menu-download", icon=":material/download:") as is_open:
        if not is_open:
            return
        with st.container(horizontal=True):
            for format in drawn.formats:
                draw_download(format, drawn.file, drawn.file_name(format), "download-lesson")
        edit = session.enqueue_callback(edit_scene_in_figures, scene)
        st.button(t("figures_page.edit"), key="edit-in-figures", icon=":material/draw:", on_click=edit)
        st.code(drawn.command("pdf"), language=None, wrap_lines=True)


def _draw_head_opener(t: Texts, name: str, context: LessonContext) -> None:
    """Buttons that open the head of the scene, and its card, on the page Translate, where the scene shows one."""
    shown = scene_selection(name, _scene(t, name, context), context)
    if shown is None:
        return
    config = context.service.translator.config
    shown = dataclasses.replace(shown, view=opening_view(config.num_layers, config.num_heads))
    label = t("lessons.open_head", kind=t(f"explorer.kind_{shown.kind}"), head=f"{shown.layer + 1}.{shown.head + 1}")
    st.button(
        label, key="open-head", icon=":material/translate:", on_click=session.enqueue_callback(open_in_translate, shown)
    )
    if context.service.head_atlas.atlas is not None:
        draw_card_opener(t, shown)
