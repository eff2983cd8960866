"""Browser components, whose files are read and which are registered when a page mounts them first.

So importing a module of a component needs no Streamlit and reads no JavaScript.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from viz_app.components.modules import join_modules
from viz_app.components.styles import join_styles

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer


def component(
    name: str, *, js: Callable[[], str], css: Callable[[], str] | None = None, html: str | None = None
) -> ComponentRenderer:
    """Return the function that mounts a component.

    Args:
        name: Such as `head_atlas`.
        js: Reads its code, at the first call.
        css: Reads its style, likewise.
        html: Its element; None for code alone.
    """

    @cache
    def registered() -> ComponentRenderer:
        import streamlit as st

        style = None if css is None else css()
        return st.components.v2.component(f"headlight_{name}", html=html, css=style, js=js())

    def mount(**options: Any) -> Any:
        return registered()(**options)

    return mount


def register(name: str, folder: Path) -> ComponentRenderer:
    """Return the function that mounts a component of one element, which its code fills.

    Args:
        name: Such as `head_atlas`; the element has the class `head-atlas`.
        folder: Holds `js/main.js`, and `NAME.css`.
    """
    return component(
        name,
        html=f'<div class="{name.replace("_", "-")}"></div>\n',
        css=lambda: join_styles(folder / f"{name}.css"),
        js=lambda: join_modules(folder / "js" / "main.js"),
    )
