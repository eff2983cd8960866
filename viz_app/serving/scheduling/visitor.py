"""Who the current run is for: where the visitor connects from, and whether the visitor is still there."""

from __future__ import annotations

from functools import partial

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from viz_app.serving.browser_cookie import browser_name
from viz_app.serving.scheduling.request_queue import Visitor


def stop_if_superseded() -> None:
    """End the current run if a newer one of the same session has replaced it."""
    if get_script_run_ctx(suppress_warning=True) is not None:
        st.session_state.get("text")  # reading the state ends such a run


def current_visitor() -> Visitor:
    """The visitor of this run; somebody on this machine who never leaves where no run is.

    Behind a proxy that uvicorn trusts (FORWARDED_ALLOW_IPS, by default one on this machine) the address is the one that
    the proxy forwards.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is None or not runtime.exists():
        return Visitor()
    return Visitor(st.context.ip_address or "", partial(runtime.get_instance().is_active_session, context.session_id))


def current_browser() -> str | None:
    """Name of the browser of this run; None where it keeps no cookies."""
    return browser_name(st.context.cookies)
