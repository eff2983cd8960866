"""Component that makes a student's screen follow the teacher."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from viz_app.components import events
from viz_app.components.modules import join_modules
from viz_app.components.registration import component

_mount = component(
    "class_follow",
    html='<div class="follower"></div>\n',
    js=lambda: join_modules(Path(__file__).parent / "js" / "follow.js"),
)


def watch_teacher(base: str, code: str, moves: int, language: str) -> int | None:
    """Run the page again whenever the teacher has gone to another page, sentence or model.

    Args:
        base: Prefix of the path of every page, "" or such as "/headlight".
        code: Code of the class.
        moves: The last change of place that this session knows.
        language: Code of the page's language.

    Returns:
        The number of the last change that the browser asks for; None before the first, -1 when the class has ended.
    """
    data = {"base": base, "code": code, "language": language, "moves": moves}
    reply: Any = _mount(key="class-follow", data=data, height="content", on_moves_change=events.keep)
    count = reply.get("moves")
    return int(count) if isinstance(count, (int, float)) and not isinstance(count, bool) else None
