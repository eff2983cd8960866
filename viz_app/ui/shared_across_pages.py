"""Widgets that keep their state when the visitor changes the page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import get_script_run_ctx


@contextmanager
def shared_across_pages() -> Iterator[None]:
    """Widgets drawn in this context are the same on all pages and keep their value when the page changes.

    Whoever goes to another page sends the server the values of the frame's controls only. If the run before was still
    busy, the server has put that message in the place of an earlier one that it had not come to, and what was chosen
    or typed right before leaving would be lost with it. Streamlit counts as the frame what the entry point draws by
    itself; there is no public way to say the same of what a page draws.

    The containers around such a control have to belong to the frame too: see `shared_row`.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        yield
        return
    with context.run_with_active_hash(context.pages_manager.main_script_hash):
        yield


def shared_row(**settings: Any) -> DeltaGenerator:
    """A horizontal container for a page's own controls and for those of the frame; `settings` as `st.container`."""
    with shared_across_pages():
        return st.container(horizontal=True, vertical_alignment="center", **settings)
