"""Frame of the app: theme, language, navigation. It knows the pages by their paths only."""

from __future__ import annotations

import sys
from pathlib import Path

import streamlit as st

from viz_app.components.current_link import on_current_link
from viz_app.serving.input_validation import MAX_CHARACTERS
from viz_app.serving.models.registry import models_listed_once
from viz_app.serving.scheduling.render_lock import render_lock
from viz_app.serving.scheduling.request_queue import RequestQueue, Superseded
from viz_app.serving.scheduling.visitor import current_visitor
from viz_app.serving.streamlit_patches import retain_media, run_session
from viz_app.serving.web.page_addresses import HOME
from viz_app.state import session
from viz_app.text import LANGUAGE_NAMES, LANGUAGES
from viz_app.ui.about import about_text
from viz_app.ui.classroom.class_frame import draw_class_line
from viz_app.ui.classroom.class_membership import PAGE, follow, show_place
from viz_app.ui.error_boundary import error_boundary
from viz_app.ui.lesson_route import open_index
from viz_app.ui.missing_model import draw_missing_model

_PAGES = {
    "translate": ":material/translate:",
    "lab": ":material/science:",
    "lessons": ":material/school:",
    "figures": ":material/draw:",
    "model": ":material/info:",
    "classroom": ":material/groups:",
    "glossary": ":material/menu_book:",
}
_LINKED = "glossary"  # from every definition, and not in the navigation
_UNTITLED = ("", "figures", "lab")  # paths of pages that begin with their tools
_FOLDER = Path(__file__).parent


def main() -> None:
    """Draw the frame and the visitor's page, under the render lock."""
    try:
        with render_lock(_render_queue(), run_session() or ""), models_listed_once():
            _draw()
    except Superseded:  # a newer run draws the page, or the visitor has left
        st.stop()


@st.cache_resource(show_spinner=False, max_entries=1)
def _render_queue() -> RequestQueue:
    # Runs wait for milliseconds, and each has its own connection, so the queue refuses none.
    return RequestQueue(1, visitor=current_visitor, max_waiting=sys.maxsize)


def _draw() -> None:
    retain_media()
    session.initialise()
    t = session.labels()
    st.set_page_config(
        page_title="Headlight",
        page_icon=str(_FOLDER / "static" / "icon.svg"),
        layout="wide",
        menu_items={"About": about_text(t)},
    )
    st.html(_FOLDER / "frame.css")
    st.logo(_FOLDER / "static" / "logo.svg", size="large")
    with error_boundary(t):
        session.run_pending_callbacks()
    t = session.labels()  # of the session that may just have been opened
    pages = {
        name: st.Page(
            _FOLDER / "app_pages" / f"{name}.py",
            title=t(f"nav.{name}"),
            icon=icon,
            url_path=name,
            default=name == HOME,
            visibility="hidden" if name == _LINKED else "visible",
        )
        for name, icon in _PAGES.items()
    }
    page = st.navigation(list(pages.values()), position="top")
    follow(t, page.url_path, frozenset(each.url_path for name, each in pages.items() if name != PAGE))
    if elsewhere := session.pending_page(page.url_path or HOME):
        st.switch_page(pages[elsewhere])
    session.restore_text_widget(page.url_path)
    # Of all pages only the lessons have places inside them.
    on_current_link(open_index if page.url_path == "lessons" else lambda: None)
    with st.container(key="language", horizontal=True, vertical_alignment="center"):
        if page.url_path in _UNTITLED:
            st.title(page.title, anchor=False)
        st.segmented_control(
            t("frame.language"),
            LANGUAGES,
            format_func=LANGUAGE_NAMES.__getitem__,
            key=session.LANGUAGE_KEY,
            required=True,
            label_visibility="collapsed",
        )
    with error_boundary(t):
        draw_missing_model(t)
        if (characters := session.refused_characters()) is not None:
            st.warning(t("frame.too_long", characters=f"{characters:,}", limit=f"{MAX_CHARACTERS:,}"))
        draw_class_line(t)
        page.run()
        show_place(page.url_path)
