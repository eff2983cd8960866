"""Visitor of the current run: address, presence, browser."""

from __future__ import annotations

from functools import partial

import streamlit as st

from viz_app.serving.browser_cookie import browser_name
from viz_app.serving.request_origin import is_own_host, party
from viz_app.serving.scheduling.request_queue import Visitor
from viz_app.serving.server_address import is_loopback
from viz_app.serving.streamlit_patches import client_address, is_connected, run_session


def current_visitor() -> Visitor:
    """Return the visitor of this run; outside a run a local visitor who never leaves.

    Its address is the party's. Behind a proxy that uvicorn trusts (FORWARDED_ALLOW_IPS, by default one on this machine)
    it is the one that the proxy forwards.
    """
    session = run_session()
    if session is None or not st.runtime.exists():
        return Visitor()
    return Visitor(party(client_address(session)), partial(is_connected, session))


def current_browser() -> str | None:
    """Return the name of the browser of this run; None if it keeps no cookies."""
    return browser_name(st.context.cookies)


def is_own_computer() -> bool:
    """Return whether the browser of this run is on the server's computer, and has come by no proxy."""
    return is_loopback(current_visitor().address) and is_own_host(st.context.headers)
