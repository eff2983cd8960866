"""Registration of browser components from a folder with their style and code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from viz_app.components.modules import join_modules
from viz_app.components.styles import join_styles

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer


def register(name: str, folder: Path, *, style: Path | None = None) -> ComponentRenderer:
    """Register a component of one element, which its code fills.

    Args:
        name: Such as `file_picker`; the element has the class `file-picker`.
        folder: Holds `js/main.js`, and `NAME.css` unless another style is given.
        style: Rules that several components share.

    Returns:
        The function that mounts it.

    Raises:
        OSError: A file cannot be read.
        ValueError: The modules cannot be joined, see `join_modules`.
    """
    return st.components.v2.component(
        f"headlight_{name}",
        html=f'<div class="{name.replace("_", "-")}"></div>\n',
        css=join_styles(style or folder / f"{name}.css"),
        js=join_modules(folder / "js" / "main.js"),
    )
