"""Event for a press of the navigation's link to the open page.

For Streamlit this is one more run of the same page. A page with places inside it, such as the lessons, then goes back
to its start.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from viz_app.components import events
from viz_app.components.modules import join_modules
from viz_app.components.registration import component

_KEY = "current-link"
_mount = component("current_link", js=lambda: join_modules(Path(__file__).parent / "js" / "current_link.js"))


def on_current_link(act: Callable[[], object]) -> None:
    """Call a function, at least once, after a press of the link.

    Mount it in the frame: the message of the press leaves out the components of a page.
    """
    result: Any = _mount(key=_KEY, data={}, height="content", on_pressed_change=events.keep)
    pressed = events.new_event(_KEY, result.get("pressed"))
    if pressed is not None:
        act()
        events.answered(_KEY, pressed)
