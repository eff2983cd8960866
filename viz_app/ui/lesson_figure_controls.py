"""A lesson's picture on the page Figures: where it comes from, and its controls."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from viz_app.components.explorer import Selection
from viz_app.figure_editor import lesson_figure_spec
from viz_app.figure_editor.figure_spec import Draft
from viz_app.figure_editor.lesson_figure_spec import LessonScene
from viz_app.figure_editor.rendering import Product
from viz_app.figures import Animation, Figure, heeded, uses
from viz_app.figures.uses import numbers_of
from viz_app.serving import loader
from viz_app.state import session
from viz_app.state.selected_model import selected_model
from viz_app.text import Texts
from viz_app.ui.escape_markdown import plain
from viz_app.ui.lesson_route import open_stop
from viz_app.ui.style_controls import Look

_REFUSED = "studio_refused"  # what of the first address could not be read, with the draft that was made of the rest


def opened() -> Draft | None:
    """The draft when it is the picture of a lesson, as it was left or as the address says; None for attention."""
    kept: Draft | None = st.session_state.get(session.DRAFT_KEY)
    if kept is None:
        params = st.query_params.to_dict()
        if (why := lesson_figure_spec.refusal(params)) and _REFUSED not in st.session_state:
            st.session_state[_REFUSED] = (None, why)
        if LessonScene.of_params(params) is None:
            return None
        kept = Draft.of_params(params, Draft())
    return kept if kept.scene else None


def draw_refusal(t: Texts) -> None:
    """What of the address could not be read, until the visitor changes something."""
    draft, why = st.session_state.get(_REFUSED, (None, ""))
    now = st.session_state.get(session.DRAFT_KEY)
    if not why or draft not in (None, now):
        st.session_state.pop(_REFUSED, None)
        return
    st.session_state[_REFUSED] = (now, why)
    st.warning(t(f"studio.refused_{why}"), icon=":material/link_off:")


def draw_scene(t: Texts, draft: Draft, text: str) -> tuple[Draft, Product | None]:
    """The controls, and the picture as they stand; None for a scene that has none for print. Raises Superseded."""
    assert draft.scene is not None, "a draft of attention"
    figure = _figure(t, draft, text)
    _draw_origin(t, draft, draft.scene)
    if figure is None:
        return draft, None
    still = figure.standing if isinstance(figure, Animation) else figure
    look = Look(t, uses(still), numbers_of(still), "scene-")
    changed = replace(draft, style=look.draw(draft.style))
    with st.expander(t("studio.more"), key=look.widgets.key("more")):
        changed = look.more(changed)
    if changed.language != draft.language:
        figure = _figure(t, changed, text) or figure
    return changed, Product(figure, heeded(changed.style, figure), changed.dpi, t.language)


def _figure(t: Texts, draft: Draft, text: str) -> Figure | None:
    assert draft.scene is not None, "a draft of attention"
    load = partial(loader.service, selected_model())  # by its name, since a download asks from another thread
    return draft.scene.figure(text, draft.language or t.language, load, session.session_id())


def _draw_origin(t: Texts, draft: Draft, of: LessonScene) -> None:
    """The lesson and the scene, and the ways from here."""
    words, shown = of.words(t.language)
    st.markdown(f"**{plain(shown.title)}**  \n:small[{plain(t('studio.of_lesson', lesson=words.title))}]")
    with st.container(horizontal=True, key="studio-origin"):
        back, away = session.surely(_to_lesson, of), session.surely(_leave, draft)
        st.button(t("studio.to_lesson"), key="studio-to-lesson", icon=":material/school:", on_click=back)
        st.button(t("studio.attention"), key="studio-attention", icon=":material/grid_view:", on_click=away)


def _to_lesson(of: LessonScene) -> None:
    """Open the lesson where its picture was made."""
    st.session_state[f"lesson-{of.lesson}-state"] = of.state
    open_stop(of.lesson)


def _leave(drawn: Draft) -> None:
    """Back to attention: the head that was shown last, or else, as at the start, the best one.

    Args:
        drawn: What the button stands beside; the session has none yet while its first figure is drawn.
    """
    draft: Draft = st.session_state.get(session.DRAFT_KEY, drawn)
    st.session_state[session.DRAFT_KEY] = draft.of_scene(None)
    if draft.selection == Selection():
        st.session_state[session.FRESH_KEY] = True
