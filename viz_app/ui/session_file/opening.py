"""Open a session file in the place of the present state: all of it, or nothing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import msgspec
import streamlit as st

from viz_app.figure_editor.figure_spec import FigureSpec
from viz_app.figure_editor.saved_figure import spec_from_saved
from viz_app.lessons.catalogue import LAB, QUESTIONS, SESSION, SHORT, STAGES
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
from viz_app.ui.classroom.class_membership import restore_results
from viz_app.ui.figures.collection import restore_collection
from viz_app.ui.lesson_route import LAB_LINKED_KEY, LINKED_KEY, OPEN_KEY, findings_key, follow_route, state_key
from viz_app.ui.model.atlas import restore_atlas
from viz_app.ui.model.growth import restore_growth
from viz_app.ui.model.pruning import restore_pruning
from viz_app.ui.translate.external_views import restore_view

Note = tuple[str, dict[str, str]]


@dataclass(frozen=True)
class OpenedSessionFile:
    """Numbers of an opened file, and notes about it.

    Args:
        page: The page that is open now.
        lessons: Number of opened lessons.
        findings: Number of pinned findings.
        figures: Number of figures in the collection.
        polls: Number of polls.
        notes: Names of labels `session.note_...`, each with its values.
    """

    page: str
    lessons: int
    findings: int
    figures: int
    polls: int
    notes: tuple[Note, ...]


def open_session_file(read: ReadSession, pages: Collection[str]) -> OpenedSessionFile:
    """Replace the present state by the state of a file.

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
    follow_route((SHORT if saved.short_route else SESSION) if saved.route else "")
    _restore_explorer(saved)
    _restore_lessons(saved.lesson if saved.lesson in (QUESTIONS, *lessons) else None, lessons)
    _restore_figures(saved, spec, collected)
    restore_growth(growth)
    _restore_atlas(saved)
    restore_results(saved.polls)
    findings = sum(len(each.findings) for each in lessons.values())
    return OpenedSessionFile(page, len(lessons.keys() - {LAB}), findings, len(collected), len(saved.polls), notes)


def _notes(read: ReadSession, left_out: bool, figures: int, growth: bool) -> tuple[Note, ...]:
    """Return the notes: something was left out, missing figures, the history."""
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
    """Return the model as a session names it; a missing one stays named, and the frame shows it."""
    return None if saved is None or saved.name == default_model() else saved.name


def _has_weights(model: SavedModel) -> bool:
    """Return whether a model is installed with the same weights."""
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
    """Restore the atlas of the installed model, and ignore the address."""
    weights = next(iter(weights_of(saved.model.name if saved.model else default_model())), "")
    restore_atlas(weights, saved.atlas or SavedAtlas())
    restore_pruning(weights, saved.pruning or SavedPruning())


def _restore_lessons(opened: str | None, lessons: dict[str, SavedLesson]) -> None:
    """Restore the state of each lesson; lessons that were never opened start at their start."""
    st.session_state[LINKED_KEY], st.session_state[LAB_LINKED_KEY] = None, False
    st.session_state[OPEN_KEY] = opened
    for name in STAGES:
        saved = lessons.get(name)
        _put(state_key(name), saved and LessonState(saved.scene, valid_settings(saved.settings)))
        _put(findings_key(name), saved and tuple(map(_finding, saved.findings)))


def _finding(saved: SavedFinding) -> SavedFinding:
    """Return a finding as a stage has it: the default model has no name there."""
    return msgspec.structs.replace(saved, model="") if saved.model == default_model() else saved


def _restore_figures(saved: SessionFile, spec: FigureSpec | None, collected: tuple[SavedFigure, ...]) -> None:
    """Restore the page Figures: it follows the explorer only when that changes from now on."""
    _put(session.FIGURE_SPEC_KEY, spec)
    st.session_state[session.FIGURE_SELECTION_KEY] = saved.explorer.selection if saved.explorer else None
    st.session_state.pop(session.FIGURE_SOURCE_KEY, None)
    st.session_state.pop(session.CHOOSE_BEST_HEAD_KEY, None)
    st.session_state[session.ZOOM_KEY] = saved.figures.zoom
    restore_collection(collected, saved.figures.formats)


def _put(key: str, value: object) -> None:
    """Set a value; None deletes the key, as in a new session."""
    if value is None:
        st.session_state.pop(key, None)
    else:
        st.session_state[key] = value
