"""The frame of the app: theme, language, navigation. It knows the pages by their paths only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import streamlit as st

from viz_app.serving.media_retention import install_media_retention
from viz_app.state import session
from viz_app.text import LANGUAGE_NAMES, LANGUAGES
from viz_app.ui.error_boundary import error_boundary
from viz_app.ui.missing_model import draw_missing_model

_PAGES = {
    "translate": ":material/translate:",
    "lessons": ":material/school:",
    "figures": ":material/draw:",
    "model": ":material/info:",
}
_HOME = "translate"
_FOLDER = Path(__file__).parent

_framed: ContextVar[bool] = ContextVar("framed", default=False)


def main() -> None:
    """Draw the frame and run the page that the visitor is on."""
    install_media_retention()
    session.initialise()
    t = session.labels()
    st.set_page_config(
        page_title="Headlight",
        page_icon=str(_FOLDER / "static" / "icon.svg"),
        layout="wide",
        menu_items={"About": t("frame.about")},
    )
    st.html(_FOLDER / "frame.css")
    st.logo(_FOLDER / "static" / "logo.svg", size="large")
    with error_boundary(t):
        session.run_pending_callbacks()
    pages = {
        name: st.Page(
            _FOLDER / "pages" / f"{name}.py", title=t(f"nav.{name}"), icon=icon, url_path=name, default=name == _HOME
        )
        for name, icon in _PAGES.items()
    }
    page = st.navigation(list(pages.values()), position="top")
    if elsewhere := session.pending_page(page.url_path or _HOME):
        st.switch_page(pages[elsewhere])
    session.restore_text_widget(page.url_path)
    with st.container(key="language"):
        st.segmented_control(
            t("frame.language"),
            LANGUAGES,
            format_func=LANGUAGE_NAMES.__getitem__,
            key=session.LANGUAGE_KEY,
            required=True,
            label_visibility="collapsed",
        )
    with error_boundary(t), frame():
        draw_missing_model(t)
        page.run()


@contextmanager
def frame() -> Iterator[None]:
    """Inside this block a page is drawn by `main`, with navigation and language around it."""
    token = _framed.set(True)
    try:
        yield
    finally:
        _framed.reset(token)


def run(page: Callable[[], None]) -> None:
    """Draw a page inside the frame.

    Streamlit takes any folder named `pages` for its older way of many pages until the first session has declared its
    navigation. A page that is opened by its own address right after the start of the server would then run without
    `main.py`; so it starts that first.
    """
    if _framed.get():
        page()
    else:
        main()
