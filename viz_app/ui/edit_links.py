"""Links between pages: a figure to Figures, a head to Translate, to its card there, or to the Lab."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from transformer_core.head import Head
from viz_app.components.explorer.selection import Selection
from viz_app.figure_editor.figure_spec import FigureSpec
from viz_app.lessons.catalogue import LAB
from viz_app.lessons.stage import LessonState
from viz_app.state import session
from viz_app.text import Texts
from viz_app.ui.lesson_route import state_key


def edit_in_figures(selection: Selection, words: Sequence[int]) -> None:
    """For `enqueue_callback`: open the page Figures with the explorer's selection; `words` has each output's word."""
    _open_figures(lambda spec: spec.follow_explorer(selection, words))
    st.session_state[session.FIGURE_SELECTION_KEY] = selection


def edit_atlas_in_figures(view: Mapping[str, Any]) -> None:
    """For `enqueue_callback`: open the page Figures with a view of the head atlas.

    Args:
        view: `view` and its parameters, as `FigureSpec` has them.
    """
    _open_figures(lambda spec: dataclasses.replace(spec, **view))


def _open_figures(change: Callable[[FigureSpec], FigureSpec]) -> None:
    """Open the page Figures with a changed spec; its style stays as last chosen there."""
    spec: FigureSpec = st.session_state.get(session.FIGURE_SPEC_KEY) or FigureSpec()
    st.session_state[session.FIGURE_SPEC_KEY] = change(spec)
    session.navigate_to("figures")


def draw_edit_button(t: Texts, key: str, edit: Callable[..., None], *args: object) -> None:
    """Draw a button that opens the page Figures; `edit` is one of the functions above."""
    go = session.enqueue_callback(edit, *args)
    if st.button(t("figures_page.edit"), key=key, icon=":material/draw:", on_click=go):
        st.rerun()  # a button of a dialog runs the dialog only, and the queued callback needs a whole run


def open_in_lab(selection: Selection, bench: str) -> None:
    """For `enqueue_callback`: open a bench of the Lab at the selected head."""
    head = Head(selection.kind, selection.layer, selection.head)
    st.session_state[state_key(LAB)] = LessonState(bench, {"chosen": str(head)})
    session.navigate_to(LAB)


def open_in_translate(selection: Selection) -> None:
    """For `enqueue_callback`: open the page Translate with a selection."""
    st.session_state[session.SELECTION_KEY] = selection
    session.navigate_to("translate")


def draw_card_opener(t: Texts, selection: Selection) -> None:
    """A button that opens the card of a head, on the page Translate. Only for a model with an atlas."""
    head = f"{selection.layer + 1}.{selection.head + 1}"
    label = t("lessons.open_card", kind=t(f"explorer.kind_{selection.kind}"), head=head)
    target = dataclasses.replace(selection, zoom="head", average="none", card=True)
    go = session.enqueue_callback(open_in_translate, target)
    st.button(label, key="open-card", icon=":material/badge:", type="tertiary", on_click=go)
