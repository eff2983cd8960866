"""The entry point: theme, language, navigation; everything else stands in the pages.

Start it from the repository root: python -m streamlit run viz_app/main.py
"""

from __future__ import annotations

import sys
from pathlib import Path

import streamlit as st

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # Streamlit puts only this file's own folder there
    sys.path.insert(0, str(ROOT))

from viz_app.pages import frame  # noqa: E402
from viz_app.pages.parts.missing_model import draw_missing  # noqa: E402
from viz_app.services import session  # noqa: E402
from viz_app.services.errors import friendly_errors  # noqa: E402
from viz_app.services.kept_files import keep_files  # noqa: E402
from viz_app.text import LANGUAGE_NAMES, LANGUAGES  # noqa: E402

_PAGES = {
    "translate": ":material/translate:",
    "lessons": ":material/school:",
    "figures": ":material/draw:",
    "model": ":material/info:",
}
_HOME = "translate"
_FOLDER = Path(__file__).parent


def main() -> None:
    """Draw the frame and run the page that the visitor is on."""
    keep_files()
    session.start()
    t = session.labels()
    st.set_page_config(
        page_title="Headlight",
        page_icon=str(_FOLDER / "static" / "icon.svg"),
        layout="wide",
        menu_items={"About": t("frame.about")},
    )
    st.html(_FOLDER / "frame.css")
    st.logo(_FOLDER / "static" / "logo.svg", size="large")
    with friendly_errors(t):
        session.run_clicks()
    pages = {
        name: st.Page(
            _FOLDER / "pages" / f"{name}.py", title=t(f"nav.{name}"), icon=icon, url_path=name, default=name == _HOME
        )
        for name, icon in _PAGES.items()
    }
    page = st.navigation(list(pages.values()), position="top")
    if elsewhere := session.wanted(page.url_path or _HOME):
        st.switch_page(pages[elsewhere])
    session.arrive(page.url_path)
    with st.container(key="language"):
        st.segmented_control(
            t("frame.language"),
            LANGUAGES,
            format_func=LANGUAGE_NAMES.__getitem__,
            key=session.LANGUAGE_KEY,
            required=True,
            label_visibility="collapsed",
        )
    with friendly_errors(t), frame():
        draw_missing(t)
        page.run()


if __name__ == "__main__":
    main()
