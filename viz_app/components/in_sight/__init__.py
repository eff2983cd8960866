"""Mark on a page that reports when the reader comes near, so that what is never looked at is not drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from viz_app.components import events
from viz_app.components.modules import join_modules
from viz_app.components.registration import component

_mount = component(
    "in_sight",
    js=lambda: join_modules(Path(__file__).parent / "js" / "in_sight.js"),
)


def in_sight(key: str) -> bool:
    """Draw the mark, which takes no room; return whether the reader has come near since the page was opened.

    Args:
        key: Key of the container around it; the mark has it with `in-sight-` before it.
    """
    result: Any = _mount(key=f"in-sight-{key}", data={}, height="content", on_seen_change=events.keep)
    return result.get("seen") is True


def once_in_sight(key: str, draw: Callable[[], object]) -> None:
    """Draw a part of the page from when the reader comes near.

    Args:
        key: Key of the container around it.
        draw: Draws the part.
    """
    import streamlit as st

    with st.container(key=key):
        if in_sight(key):
            draw()
