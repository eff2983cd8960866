"""Buttons that make a file when they are pressed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from viz_app.export.bundle import Turn
from viz_app.figure_editor.rendering import ExportableFigure, render_cache
from viz_app.figures import RENDERERS
from viz_app.serving.scheduling.visitor import current_visitor
from viz_app.state.session import session_id


def format_name(format: str) -> str:
    """Return the name of a format on a button."""
    return RENDERERS[format].name


def in_turn(make: Callable[[], bytes]) -> Callable[[], bytes]:
    """Return `make` in the render queue, for a call after this run; it stops if the visitor has left."""
    return partial(render_cache().file, session_id(), current_visitor(), make)


def in_turns(make: Callable[[Turn], bytes]) -> Callable[[], bytes]:
    """Return `make` as `in_turn` does, for a file of many drawings, each of which takes its turn."""
    return partial(render_cache().files, session_id(), current_visitor(), make)


def draw_figure_downloads(figure: ExportableFigure, key: str) -> None:
    """Draw a row with a button for each format of a figure."""
    with st.container(horizontal=True):
        for format in figure.formats:
            draw_download(format, figure.file, figure.file_name(format), key)


def draw_command(figure: ExportableFigure) -> None:
    """Draw the command that makes a figure again, if there is one."""
    if command := figure.command("pdf"):
        st.code(command, language=None, wrap_lines=True)


def draw_download(format: str, make: Callable[[str], bytes], file_name: str, key: str, *, first: bool = False) -> None:
    """Draw the button of one format; the first of a row has an icon."""
    st.download_button(
        format_name(format),
        data=in_turn(partial(make, format)),
        file_name=file_name,
        mime=RENDERERS[format].mime_type,
        key=f"{key}-{format}",
        on_click="ignore",
        icon=":material/download:" if first else None,
    )
