"""A lesson's picture on the page Figures: where it comes from, and its controls."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from viz_app.components.explorer.selection import Selection
from viz_app.figure_editor import lesson_figure_spec
from viz_app.figure_editor.figure_spec import FigureSpec
from viz_app.figure_editor.lesson_figure_spec import LessonFigureSpec
from viz_app.figure_editor.rendering import ExportableFigure
from viz_app.figures import Animation, Figure, effective_style, supported_options
from viz_app.figures.style_support import default_range
from viz_app.serving.models import loader
from viz_app.serving.models.translation_service import TranslationService
from viz_app.state import session
from viz_app.state.selected_model import selected_model
from viz_app.text import Texts
from viz_app.ui.escape_markdown import escape_markdown
from viz_app.ui.figures.style_controls import StyleControls
from viz_app.ui.lesson_route import open_stop

_REFUSED = "figure_refused"  # what of the first address could not be read, with the spec that was made of the rest


def lesson_spec() -> FigureSpec | None:
    """Return the spec when it is the picture of a lesson, as it was left or as the address says; None for attention."""
    kept: FigureSpec | None = st.session_state.get(session.FIGURE_SPEC_KEY)
    if kept is None:
        params = st.query_params.to_dict()
        if (why := lesson_figure_spec.invalid_part(params)) and _REFUSED not in st.session_state:
            st.session_state[_REFUSED] = (None, why)
        if LessonFigureSpec.from_query(params) is None:
            return None
        kept = FigureSpec.from_query(params, FigureSpec())
    return kept if kept.scene else None


def draw_refusal(t: Texts) -> None:
    """Show what of the address could not be read, until the visitor changes something."""
    spec, why = st.session_state.get(_REFUSED, (None, ""))
    now = st.session_state.get(session.FIGURE_SPEC_KEY)
    if not why or spec not in (None, now):
        st.session_state.pop(_REFUSED, None)
        return
    st.session_state[_REFUSED] = (now, why)
    st.warning(t(f"figures_page.refused_{why}"), icon=":material/link_off:")


def draw_scene(
    t: Texts, spec: FigureSpec, text: str, served: TranslationService
) -> tuple[FigureSpec, ExportableFigure | None]:
    """Draw the controls; return the spec and the picture, None for a scene without one for print. Raises Superseded."""
    assert spec.scene is not None, "a spec of attention"
    figure = _figure(t, spec, text)
    _draw_origin(t, spec, spec.scene)
    if figure is None:
        return spec, None
    still = figure.still_frame if isinstance(figure, Animation) else figure
    look = StyleControls(t, supported_options(still), default_range(still), "scene-")
    changed = replace(spec, style=look.draw(spec.style))
    with st.expander(t("figures_page.more"), key=look.widgets.key("more")):
        changed = look.more(changed)
    if changed.language != spec.language:
        figure = _figure(t, changed, text) or figure
    return changed, ExportableFigure(figure, effective_style(changed.style, figure), changed.dpi, t.language)


def _figure(t: Texts, spec: FigureSpec, text: str) -> Figure | None:
    assert spec.scene is not None, "a spec of attention"
    load = partial(
        loader.get_translation_service, selected_model()
    )  # by its name, since a download asks from another thread
    return spec.scene.figure(text, spec.language or t.language, load, session.session_id())


def _draw_origin(t: Texts, spec: FigureSpec, of: LessonFigureSpec) -> None:
    """Draw the names of lesson and scene, and the links from here."""
    words, shown = of.words(t.language)
    origin = escape_markdown(t("figures_page.of_lesson", lesson=words.title))
    st.markdown(f"**{escape_markdown(shown.title)}**  \n:small[{origin}]")
    with st.container(horizontal=True, key="figures-origin"):
        back, away = session.enqueue_callback(_to_lesson, of), session.enqueue_callback(_leave, spec)
        st.button(t("figures_page.to_lesson"), key="figures-to-lesson", icon=":material/school:", on_click=back)
        st.button(t("figures_page.attention"), key="figures-attention", icon=":material/grid_view:", on_click=away)


def _to_lesson(of: LessonFigureSpec) -> None:
    """Open the lesson where its picture was made."""
    st.session_state[f"lesson-{of.lesson}-state"] = of.state
    open_stop(of.lesson)


def _leave(drawn: FigureSpec) -> None:
    """Go back to attention: the head that was shown last, or else the best one.

    Args:
        drawn: Spec of the drawn figure; the session has none before its first figure is drawn.
    """
    spec: FigureSpec = st.session_state.get(session.FIGURE_SPEC_KEY, drawn)
    st.session_state[session.FIGURE_SPEC_KEY] = spec.with_scene(None)
    if spec.selection == Selection():
        st.session_state[session.CHOOSE_BEST_HEAD_KEY] = True
