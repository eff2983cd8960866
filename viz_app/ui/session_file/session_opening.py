"""A session file in the place of what is open: all of it, or nothing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import msgspec
import streamlit as st

from viz_app.figure_editor.figure_spec import FigureSpec
from viz_app.figure_editor.saved_figure import spec_from_saved
from viz_app.lessons.catalogue import LAB, QUESTIONS, STAGES
from viz_app.lessons.stage import LessonState
from viz_app.lessons.stage.state import valid_settings
from viz_app.model_card.histories import available_histories
from viz_app.serving.models.registry import available_models, default_model
from viz_app.state import session
from viz_app.state.selected_model import weights_of
from viz_app.state.session_file import (
    SavedAtlas,
    SavedFigure,
    SavedFinding,
    SavedLesson,
    SavedModel,
    SavedPruning,
    SessionFile,
)
from viz_app.state.session_reader import ReadSession
from viz_app.state.stale_branch import forget_branch
from viz_app.text import LANGUAGES
from viz_app.ui.classroom.class_session import restore_results
from viz_app.ui.figures.collection import restore_collection
from viz_app.ui.lesson_route import LAB_LINKED_KEY, LINKED_KEY, OPEN_KEY, findings_key, set_following, state_key
from viz_app.ui.model.atlas import restore_atlas
from viz_app.ui.model.growth import restore_growth
from viz_app.ui.model.pruning import restore_pruning
from viz_app.ui.translate.external_views import restore_view

Note = tuple[str, dict[str, str]]


@dataclass(frozen=True)
class OpenedSession:
    """What was opened, in numbers, and what is to be said about it.

    Args:
        page: That is open now.
        lessons: Lessons that were open.
        findings: Findings that were pinned.
        figures: Figures of the collection.
        polls: Polls with their answers.
        notes: What is to be said about it: names of labels `session.note_...`, each with what to fill in.
    """

    page: str
    lessons: int
    findings: int
    figures: int
    polls: int
    notes: tuple[Note, ...]


def open_session(read: ReadSession, pages: Collection[str]) -> OpenedSession:
    """Put what a file holds in the place of what is open.

    Args:
        read: The file; it was checked as a whole, so nothing here refuses it.
        pages: Names of the pages that there are.
    """
    saved, figures, spec = read.session, read.session.figures, None
    left_out = read.left_out or saved.language not in LANGUAGES or saved.page not in pages
    left_out |= bool(saved.lessons.keys() - set(STAGES)) or saved.lesson not in (None, QUESTIONS, *STAGES)
    try:
        spec = None if figures.spec is None else spec_from_saved(figures.spec)
    except ValueError:
        left_out = True
    collected = tuple(each for each in figures.collection if _has_weights(each.model))
    lessons = {name: each for name, each in saved.lessons.items() if name in STAGES}
    growth = saved.growth if saved.growth and _has_history(saved.growth.of, saved.model) else None
    notes = _notes(read, left_out, len(figures.collection) - len(collected), growth != saved.growth)

    page = saved.page if saved.page in pages else next(iter(pages))
    language = saved.language if saved.language in LANGUAGES else session.language()
    session.replace_session(language, saved.text, _model(saved.model))
    session.navigate_to(page)
    set_following(saved.route)
    _restore_explorer(saved)
    _restore_lessons(saved.lesson if saved.lesson in (QUESTIONS, *lessons) else None, lessons)
    _restore_figures(saved, spec, collected)
    restore_growth(growth)
    _restore_atlas(saved)
    restore_results(saved.polls)
    findings = sum(len(each.findings) for each in lessons.values())
    return OpenedSession(page, len(lessons.keys() - {LAB}), findings, len(collected), len(saved.polls), notes)


def _notes(read: ReadSession, left_out: bool, figures: int, growth: bool) -> tuple[Note, ...]:
    """What is to be said: something was left out, so many figures, the history."""
    notes: list[Note] = []
    model = read.session.model
    if read.is_newer:
        notes.append(("newer", {}))
    elif left_out:
        notes.append(("left_out", {}))
    if model and model.name in available_models() and not _has_weights(model):
        notes.append(("weights", {"model": model.name}))
    if figures:
        notes.append(("figures", {"count": str(figures)}))
    if growth:
        notes.append(("growth", {}))
    return tuple(notes)


def _model(saved: SavedModel | None) -> str | None:
    """The model as a session names it; one that is not here stays named, and the frame says so."""
    return None if saved is None or saved.name == default_model() else saved.name


def _has_weights(model: SavedModel) -> bool:
    """Whether a model is here with the weights that it had."""
    return model.name in available_models() and (not model.weights or model.weights in weights_of(model.name))


def _has_history(name: str, model: SavedModel | None) -> bool:
    folder = available_models().get(model.name) if model else None
    return name in {each.name for each in available_histories(folder)}


def _restore_explorer(saved: SessionFile) -> None:
    explorer = saved.explorer
    forget_branch()
    restore_view(explorer.other if explorer else None)
    st.session_state[session.HEAD_OFF_KEY] = explorer.off if explorer else None
    _put(session.SELECTION_KEY, explorer.selection if explorer else None)


def _restore_atlas(saved: SessionFile) -> None:
    """The atlas of the model as it is here; it shows what it has of that, and not what the address says."""
    weights = next(iter(weights_of(saved.model.name if saved.model else default_model())), "")
    restore_atlas(weights, saved.atlas or SavedAtlas())
    restore_pruning(weights, saved.pruning or SavedPruning())


def _restore_lessons(opened: str | None, lessons: dict[str, SavedLesson]) -> None:
    """Where the session stands in each lesson; those that were never opened start at their start."""
    st.session_state[LINKED_KEY], st.session_state[LAB_LINKED_KEY] = None, False
    st.session_state[OPEN_KEY] = opened
    for name in STAGES:
        saved = lessons.get(name)
        _put(state_key(name), saved and LessonState(saved.scene, valid_settings(saved.settings)))
        _put(findings_key(name), saved and tuple(map(_finding, saved.findings)))


def _finding(saved: SavedFinding) -> SavedFinding:
    """As a stage has it: the model that is served to all needs no name."""
    return msgspec.structs.replace(saved, model="") if saved.model == default_model() else saved


def _restore_figures(saved: SessionFile, spec: FigureSpec | None, collected: tuple[SavedFigure, ...]) -> None:
    """The page Figures: it follows the explorer only when that moves from here on."""
    _put(session.FIGURE_SPEC_KEY, spec)
    st.session_state[session.FIGURE_SELECTION_KEY] = saved.explorer.selection if saved.explorer else None
    st.session_state.pop(session.FIGURE_SOURCE_KEY, None)
    st.session_state.pop(session.CHOOSE_BEST_HEAD_KEY, None)
    st.session_state[session.ZOOM_KEY] = saved.figures.zoom
    restore_collection(collected, saved.figures.formats)


def _put(key: str, value: object) -> None:
    """Keep a value; None takes the key away, as in a session that has just begun."""
    if value is None:
        st.session_state.pop(key, None)
    else:
        st.session_state[key] = value
