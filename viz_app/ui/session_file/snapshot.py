"""Snapshot of the present state for a session file."""

from __future__ import annotations

import dataclasses

import msgspec
import streamlit as st

from transformer_core import __version__
from viz_app.components.explorer import mount as explorer
from viz_app.components.explorer.selection import Selection
from viz_app.figure_editor.figure_spec import FigureSpec
from viz_app.figure_editor.saved_figure import spec_to_saved
from viz_app.lessons import stage
from viz_app.lessons.catalogue import QUESTIONS, SHORT, STAGES
from viz_app.lessons.stage import LessonState
from viz_app.serving.models.registry import default_model
from viz_app.state import session
from viz_app.state.selected_model import selected_model, weights_of
from viz_app.state.session_file import (
    SavedExplorer,
    SavedFigures,
    SavedFinding,
    SavedLesson,
    SavedModel,
    SessionFile,
    is_model_name,
)
from viz_app.ui.classroom.class_membership import poll_results
from viz_app.ui.figures.collection import collection_formats, saved_collection
from viz_app.ui.lesson_route import OPEN_KEY, findings_key, followed_route, stage_key, state_key
from viz_app.ui.model.atlas import shown_atlas
from viz_app.ui.model.growth import shown_growth
from viz_app.ui.model.pruning import shown_pruning
from viz_app.ui.translate.external_views import open_view


def take_snapshot(page: str) -> SessionFile:
    """Return the present state, with the browser's last reports.

    Args:
        page: Name of the page that is open.
    """
    name, lesson = selected_model(), st.session_state.get(OPEN_KEY)
    weights = next(iter(weights_of(name)), "")
    lessons = {name: saved for name in STAGES if (saved := _lesson(name)) is not None}
    return SessionFile(
        headlight=__version__,
        language=session.language(),
        page=page,
        text=st.session_state.get(session.TEXT_KEY) or "",
        model=SavedModel(name=name, weights=weights) if is_model_name(name) else None,
        route=bool(followed_route()),
        short_route=followed_route() == SHORT,
        explorer=_explorer(),
        lesson=lesson if lesson == QUESTIONS or lesson in lessons else None,
        lessons=lessons,
        figures=_figures(),
        growth=shown_growth(),
        atlas=shown_atlas(weights),
        pruning=shown_pruning(weights),
        polls=poll_results(),
    )


def _selection() -> Selection | None:
    """Return the explorer's selection; None if it was never opened."""
    key = session.fresh_key(session.EXPLORER)
    selection: Selection | None = explorer.last_report(key) or st.session_state.get(session.SELECTION_KEY)
    return selection and _valid_selection(selection)


def _valid_selection(selection: Selection) -> Selection:
    """Return the selection without a comparison to a model whose name no folder can have."""
    if selection.vsmodel is None or is_model_name(selection.vsmodel):
        return selection
    return dataclasses.replace(selection, against=None, vs=None, vsmodel=None, vsbranch=0)


def _explorer() -> SavedExplorer | None:
    selection, key = _selection(), session.fresh_key(session.EXPLORER)
    if selection is None:
        return None
    off = explorer.last_head_off(key) if key in st.session_state else st.session_state.get(session.HEAD_OFF_KEY)
    return SavedExplorer(selection=selection, off=off, other=open_view())


def _lesson(name: str) -> SavedLesson | None:
    """Return the state of a lesson; None if it was never opened."""
    key = stage_key(name)
    state: LessonState | None = stage.last_report(key) or st.session_state.get(state_key(name))
    found = stage.last_findings(key)
    findings: tuple[SavedFinding, ...] = st.session_state.get(findings_key(name), ()) if found is None else found
    if state is None and not findings:
        return None
    state = state or LessonState()
    # Elsewhere another model may be the one that an address need not name.
    named = tuple(msgspec.structs.replace(each, model=each.model or default_model()) for each in findings)
    return SavedLesson(scene=state.scene, settings=dict(state.settings), findings=named)


def _figures() -> SavedFigures:
    spec = _figure_spec()
    return SavedFigures(
        spec=None if spec is None else spec_to_saved(spec),
        zoom=st.session_state.get(session.ZOOM_KEY, "print"),
        formats=collection_formats(),
        collection=saved_collection(),
    )


def _figure_spec() -> FigureSpec | None:
    """Return the figure that the page Figures would make now: it follows the explorer and the sentence."""
    kept: FigureSpec | None = st.session_state.get(session.FIGURE_SPEC_KEY)
    if kept is None:
        return None
    selection = _selection()
    if kept.scene is None and selection is not None:
        seen = st.session_state.get(session.FIGURE_SELECTION_KEY, selection)
        kept = kept if seen == selection else kept.with_selection(selection)
    read = f"{selected_model()}\n{' '.join(st.session_state[session.TEXT_KEY].split())}"
    if kept.scene is None and st.session_state.get(session.FIGURE_SOURCE_KEY, read) != read:
        kept = kept.for_new_sentence()
    return dataclasses.replace(kept, selection=_valid_selection(kept.selection))
