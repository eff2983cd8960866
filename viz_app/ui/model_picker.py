"""Choice of the model, on every page: "English → German"."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz_app.components.explorer.selection import Selection
from viz_app.figure_editor.figure_spec import FigureSpec
from viz_app.serving.models.registry import available_models, default_model, display_names
from viz_app.serving.models.translation_service import TranslationService
from viz_app.serving.streamlit_patches import shared_across_pages
from viz_app.state import session
from viz_app.state.selected_model import selected_model, selected_service
from viz_app.text import Texts
from viz_app.ui.escape_markdown import escape_markdown

_KEY = "model_choice"
_NAMES = "model_names"  # that were drawn last


def draw_models(t: Texts) -> None:
    """Draw the choice; for one model only, its name."""
    named, now = display_names(t), selected_model()
    with shared_across_pages(), st.container(key="models", width="content"):
        if len(named) == 1:
            st.markdown(f":small[{escape_markdown(named[now])}]", width="content", help=t("models.only"))
            return
        # The address, a link, a damaged model may have changed it, and other names are another widget. Said in each
        # run, it would undo a choice that is on its way here.
        if (st.session_state.get(_KEY), st.session_state.get(_NAMES)) != (now, named):
            st.session_state[_KEY], st.session_state[_NAMES] = now, named
        st.selectbox(
            t("models.choice"),
            list(named),
            key=_KEY,
            format_func=named.__getitem__,
            on_change=session.enqueue_callback(_on_change),
            label_visibility="collapsed",
        )


def load_service(t: Texts, status: DeltaGenerator | None = None) -> TranslationService:
    """Return the service of the visitor's model, with a spinner while it loads.

    Args:
        t: Labels.
        status: Placeholder of the page until the model is loaded, emptied after an error.
    """
    try:
        with st.spinner(t("translate.loading")):
            return selected_service()
    except Exception:
        if status is not None:
            status.empty()
        raise


def draw_waiting(t: Texts, status: DeltaGenerator, ahead: int) -> None:
    """Show the number of requests ahead in the queue of the model."""
    status.caption(f":material/hourglass: {t('translate.waiting', ahead=ahead)}")


def _on_change() -> None:
    model = st.session_state.get(_KEY)
    if isinstance(model, str):
        select_model(model)


def select_model(name: str) -> None:
    """For `enqueue_callback`: select a model. Selections and figure settings stay.

    A comparison with the newly selected model becomes one with the old model.
    """
    old = selected_model()
    if name not in available_models() or name == old:
        return
    st.session_state[session.MODEL_KEY] = None if name == default_model() else name
    session.follow_languages(old, name)
    selection: Selection | None = st.session_state.get(session.SELECTION_KEY)
    if selection is not None and selection.vsmodel == name:
        st.session_state[session.SELECTION_KEY] = replace(selection, vsmodel=old, vsbranch=0)
    spec: FigureSpec | None = st.session_state.get(session.FIGURE_SPEC_KEY)
    if spec is not None and spec.selection.vsmodel == name:
        st.session_state[session.FIGURE_SPEC_KEY] = replace(
            spec, selection=replace(spec.selection, vsmodel=old, vsbranch=0)
        )
