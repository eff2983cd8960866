"""Visitor of the current run: address, presence, browser."""

from __future__ import annotations

from functools import partial

import streamlit as st

from viz_app.serving.browser_cookie import browser_name
from viz_app.serving.scheduling.request_queue import Visitor
from viz_app.serving.streamlit_patches import is_connected, run_session


def current_visitor() -> Visitor:
    """Return the visitor of this run; outside a run a local visitor who never leaves.

    Behind a proxy that uvicorn trusts (FORWARDED_ALLOW_IPS, by default one on this machine) the address is the one that
    the proxy forwards.
    """
    session = run_session()
    if session is None or not st.runtime.exists():
        return Visitor()
    return Visitor(st.context.ip_address or "", partial(is_connected, session))


def current_browser() -> str | None:
    """Return the name of the browser of this run; None if it keeps no cookies."""
    return browser_name(st.context.cookies)
