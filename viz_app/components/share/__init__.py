"""The QR code of a link, in a menu or over the whole screen.

The same data serve the presenter's view of a lesson, which fills the screen with the code too.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from viz_app.components.modules import join_modules

_FOLDER = Path(__file__).parent
_mount = st.components.v2.component(
    "headlight_share_code",
    html='<div class="share-code"></div>\n',
    css=(_FOLDER / "share.css").read_text(encoding="utf-8"),
    js=join_modules(_FOLDER / "js" / "main.js"),
)


def share_code(data: Mapping[str, Any]) -> None:
    """Show the code.

    Args:
        data: `url`, the link; `rows` of its QR code, None for a link that is too long; `command`, the one that opens
            the app to others, "" while they can open it; `texts`, the table [share]; `language`.
    """
    _mount(key="share-code", data=dict(data), height="content")
