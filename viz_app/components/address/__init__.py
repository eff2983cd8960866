"""Keeps the address bar and the language of the document in step with the page.

Streamlit's own `st.query_params` adds an entry to the browser's history at every change, so a typed sentence would need
dozens of steps back. This component replaces the current entry instead. It also sets `<html lang>`, which Streamlit
leaves at "en" and from which screen readers and fonts take the language. A page that goes on in a new session, as
after a restart of the server, opens anew with its address.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from pathlib import Path

import streamlit as st

_PUBLISHED = "address_params"
_ALWAYS = "address_always"
_SESSION_KEY = "address_session"  # a name of the session for its page, made at random

_mount = st.components.v2.component(
    "headlight_address",
    js=(Path(__file__).parent / "address.js").read_text(encoding="utf-8"),
)


def publish(params: Mapping[str, str | None], *, language: str, page: str) -> None:
    """Show these parameters in the address bar; others stay as they are.

    Args:
        params: Values by name; None takes a parameter away.
        language: Code of the language that the page is written in.
        page: Name of the page, so that the address is set anew after a change of page.
    """
    st.session_state[_PUBLISHED] = {name: value for name, value in params.items() if value is not None}
    shown = {**params, **st.session_state.get(_ALWAYS, {})}
    session = st.session_state.setdefault(_SESSION_KEY, uuid.uuid4().hex)
    data = {"params": shown, "language": language, "page": page, "session": session}
    _mount(key=f"address-{page}", data=data, height="content")


def published() -> dict[str, str]:
    """The parameters that this session's pages have shown last."""
    return dict(st.session_state.get(_PUBLISHED, {}))


def publish_always(params: Mapping[str, str | None]) -> None:
    """Parameters that stand in the address of every page from now on; None for one that does not any more."""
    st.session_state[_ALWAYS] = dict(params)
