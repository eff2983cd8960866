"""A lesson on its stage, with what can be taken along."""

from __future__ import annotations

import dataclasses
from functools import partial

import streamlit as st

from viz_app.components.address import publish
from viz_app.explorer_view.snapshot import opening_view
from viz_app.export.bundle import Turn
from viz_app.lessons import load_lesson
from viz_app.lessons.catalogue import LESSONS, ROUTES, core_scenes, next_stop
from viz_app.lessons.context import LessonContext, StageData, fit_sentence
from viz_app.lessons.labels import read_labels
from viz_app.lessons.module import lesson_module
from viz_app.lessons.small_target import small_source, writes_other_language
from viz_app.lessons.stage import (
    LessonState,
    last_predictions,
    last_report,
    pack,
    settings_from_param,
    settings_to_param,
    stage,
)
from viz_app.serving.models import loader
from viz_app.serving.scheduling.request_queue import Superseded
from viz_app.standalone.lessons import render_lesson
from viz_app.state import session
from viz_app.state.selected_model import model_query_param
from viz_app.text import Texts
from viz_app.ui.classroom.class_frame import draw_ask_scene
from viz_app.ui.downloads import in_turns
from viz_app.ui.edit_links import draw_card_opener, open_in_translate
from viz_app.ui.lesson_route import (
    followed_route,
    go_on,
    predictions,
    route_params,
    stage_key,
    state_key,
    stop_title,
)
from viz_app.ui.model_picker import load_service
from viz_app.ui.share_menu import share_data

IN_ADDRESS = ("lesson", "scene", "with")  # parameters of a stage


class LessonStage:
    """A lesson on its stage, for one run of the page; the Lab has a class of its own, `LabStage`.

    Args:
        t: Labels in the visitor's language.
        name: Of the lesson.
        typed: The visitor's sentence.
        linked: Whether the session began with a link to this lesson, which then says where it starts.

    Raises:
        LessonError: A file of the lesson is invalid.
    """

    page = "lessons"  # whose address leads here

    def __init__(self, t: Texts, name: str, typed: str, *, linked: bool) -> None:
        read_labels(name, t.language)
        self.t, self.name = t, name
        self.words, self.module = load_lesson(name, t.language), lesson_module(name)
        self.key = stage_key(name)
        self.service = service = load_service(t)
        # By name: a download calls it in another thread.
        again = partial(loader.get_translation_service, service.name)
        state = last_report(self.key) or st.session_state.get(state_key(name)) or _start(linked)
        self.context = LessonContext(
            fit_sentence(typed, service),
            self._in_lesson(state),
            t.language,
            again,
            session.session_id(),
            parses=service.parses,
        )

    @property
    def after(self) -> str | None:
        """Name of the stop that follows; None after the last one."""
        return next_stop(self.name, followed_route())

    def remarks(self) -> list[str]:
        """Say what the reader should know of the models whose numbers are shown."""
        t, context, lines = self.t, self.context, []
        if context.parses:
            lines.append(t("lessons.of_trees"))
        if any(entry.needs_small_models for entry in LESSONS if entry.name == self.name) and writes_other_language(
            context
        ):
            read = small_source(context)
            lines.append(t("lessons.small_german") if read == context.text else t("lessons.small_read", sentence=read))
        lines += self.example_remarks()
        if self.module.shows_small_translations:
            lines.append(t("lessons.small_wrong"))
        return lines

    def example_remarks(self) -> list[str]:
        """Say that the examples are English where the model reads another language."""
        return [] if self.service.examples else [self.t("lessons.english_examples")]

    def compute(self) -> StageData:
        """Compute the numbers of the open scene. Raises Superseded when a newer request took over."""
        return self.module.data(self.context)

    def params(self) -> dict[str, str | None]:
        """Return the parameters of the address."""
        return {
            "lang": self.t.language,
            "lesson": self.name,
            "scene": self.context.state.scene or None,
            "with": settings_to_param(self.context.state.settings),
            "text": self.context.text,
            "model": model_query_param(),
            **route_params(),
        }

    def draw(self) -> None:
        """Draw the stage and what can be taken along, and publish the address."""
        t, name = self.t, self.name
        earlier = last_predictions(self.key)  # before all else: another run may end this one
        for scene in earlier.keys() & {each.name for each in self.words.scenes}:
            predictions().setdefault((name, scene), earlier[scene])
        for remark in self.remarks():
            st.caption(remark)
        try:
            numbers = self.compute()
        except Superseded:
            st.stop()
        route = followed_route()
        payload = pack(
            self.words,
            values=numbers.values,
            arrays=numbers.arrays,
            answers=numbers.answers,
            texts=t.table("lesson") | self.context.t.table(f"lesson_{name}"),
            state=self.context.state,
            onward=stop_title(t, self.after) if self.after else None,
            core=core_scenes(name, route) or core_scenes(name),
            on_route=name in ROUTES.get(route, {}),
            share=share_data(t, self.page, self.params()),
        )
        state, leaves = stage(name, payload, key=self.key, state=self.context.state, on_onward=self._leave)
        st.session_state[state_key(name)] = state = self._in_lesson(state)
        if leaves:
            st.rerun()
        self.context = dataclasses.replace(self.context, state=state)
        params = self.params()
        self._draw_takeaways()
        self._draw_recipe()
        publish(params, language=t.language, page=f"lesson-{name}")

    def draw_handout(self) -> None:
        """Draw the button that downloads the lesson as a page, which prints as a handout."""
        st.download_button(
            self.t("handout.download"),
            data=in_turns(partial(_page, self.name, self.context)),
            file_name=f"headlight_{self.name}_{self.t.language}.html",
            mime="text/html",
            icon=":material/print:",
            type="tertiary",
            on_click="ignore",
            help=self.t("handout.download_help"),
        )

    @property
    def _scene(self) -> str:
        """Name of the open scene."""
        return self.context.state.scene or self.words.scenes[0].name

    def _in_lesson(self, state: LessonState) -> LessonState:
        """Go to the first scene where a state names one that the lesson does not have."""
        return (
            state
            if state.scene in {scene.name for scene in self.words.scenes}
            else dataclasses.replace(state, scene="")
        )

    def _leave(self) -> None:
        if self.after:
            go_on(self.after)

    def _draw_takeaways(self) -> None:
        """Draw the handout, the question for the class, and the way to a head."""
        with st.container(horizontal=True, key="takeaways"):
            # What is always there comes first, so that nothing changes its place from scene to scene.
            self.draw_handout()
            draw_ask_scene(self.t, self.name, next(each for each in self.words.scenes if each.name == self._scene))
            self._draw_head_opener()

    def _draw_recipe(self) -> None:
        """Draw the command and the Python code that compute the numbers without the app."""
        recipe = self.module.recipe(self._scene, self.context)
        if recipe is None:
            return
        with st.expander(self.t("lessons.recipe"), icon=":material/terminal:"):
            if recipe.command:
                st.code(recipe.command, language="bash", wrap_lines=True)
            st.code(recipe.python, language="python", wrap_lines=True)

    def _draw_head_opener(self) -> None:
        """Draw buttons that open the head of the scene, and its card, on the page Translate."""
        target = self.module.selection(self._scene, self.context)
        if target is None:
            return
        t, config = self.t, self.context.service.translator.config
        target = dataclasses.replace(target, view=opening_view(config.num_layers, config.num_heads))
        label = t(
            "lessons.open_head", kind=t(f"explorer.kind_{target.kind}"), head=f"{target.layer + 1}.{target.head + 1}"
        )
        opener = session.enqueue_callback(open_in_translate, target)
        st.button(label, key="open-head", icon=":material/translate:", type="tertiary", on_click=opener)
        if self.context.service.head_atlas.atlas is not None:
            draw_card_opener(t, target)


def _page(name: str, context: LessonContext, turn: Turn) -> bytes:
    return render_lesson(name, context, turn=turn)


def _start(linked: bool) -> LessonState:
    """Read where a stage starts from the address, if the session began with a link to it."""
    if not linked:
        return LessonState()
    report = {
        "scene": st.query_params.get("scene", ""),
        "settings": settings_from_param(st.query_params.get("with", "")),
    }
    return LessonState.from_report(report) or LessonState()
