"""Board before the class: the code to join, the question, the answers as they come in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from viz_app.components.modules import join_modules
from viz_app.components.registration import component
from viz_app.components.styles import join_styles
from viz_app.text import Texts

_FOLDER = Path(__file__).parent
_mount = component(
    "class_board",
    html='<div class="board"></div>\n',
    css=lambda: join_styles(_FOLDER / "board.css", "explained") + (_FOLDER / "poll.css").read_text(encoding="utf-8"),
    js=lambda: join_modules(_FOLDER / "js" / "board.js"),
)


def board(t: Texts, code: str, *, address: str, share: Mapping[str, Any]) -> None:
    """Show a class; the browser asks for its state by itself.

    Args:
        t: Labels.
        code: Code of the class.
        address: Address of its state on this server, as a path: "/join/K7MQ2P".
        share: Link for the students, as for `viz_app.components.share.share_code`.
    """
    data = {
        "address": address,
        "code": code,
        "share": dict(share),
        "texts": t.table("classroom"),
        "language": t.language,
    }
    _mount(key="class-board", data=data, height="content")
