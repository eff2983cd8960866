"""Registers a browser component that has a folder with its style and its code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from viz_app.components.modules import join_modules

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer


def register(name: str, folder: Path) -> ComponentRenderer:
    """Registers a component of one element, which its code fills.

    Args:
        name: Such as `file_picker`; the element has the class `file-picker`.
        folder: Holds `NAME.css` and `js/main.js`.

    Returns:
        The function that mounts it.

    Raises:
        OSError: A file cannot be read.
        ValueError: The modules cannot be joined, see `join_modules`.
    """
    return st.components.v2.component(
        f"headlight_{name}",
        html=f'<div class="{name.replace("_", "-")}"></div>\n',
        css=(folder / f"{name}.css").read_text(encoding="utf-8"),
        js=join_modules(folder / "js" / "main.js"),
    )
