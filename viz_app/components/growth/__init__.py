"""How heads grew: one browser component that shows all heads of a sentence at each moment of a training.

    growth(pack(history, texts=t.table("growth"), language=t.language), key="growth-base")

Sentence, kind, head and moment are chosen and played in the browser, with no server.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from viz_app.components.growth.payload import pack
from viz_app.components.modules import join_modules

__all__ = ["growth", "pack"]

_FOLDER = Path(__file__).parent
_mount = st.components.v2.component(
    "headlight_growth",
    html='<div class="growth"></div>\n',
    css=(_FOLDER / "growth.css").read_text(encoding="utf-8"),
    js=join_modules(_FOLDER / "js" / "main.js"),
)


def growth(payload: bytes, *, key: str) -> None:
    """Shows a packed history.

    Args:
        payload: From `pack`.
        key: Identity of the component; under one key the reader stays where he is when labels change.
    """
    _mount(key=key, data=payload, height="content")
