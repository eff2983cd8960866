"""Address bar and language of the document, kept in step with the page.

Streamlit's `st.query_params` adds an entry to the browser's history at every change: a typed sentence would need dozens
of steps back. This component replaces the current entry. It also sets `<html lang>` for screen readers and fonts;
Streamlit leaves it at "en". A page that continues in a new session, such as after a restart of the server, is opened
again with its address.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from viz_app.components.registration import component
from viz_app.text import texts

_PUBLISHED = "address_params"
_ALWAYS = "address_always"
_SESSION_KEY = "address_session"  # random name of the session for its page

_mount = component("address", js=lambda: (Path(__file__).parent / "address.js").read_text(encoding="utf-8"))


def publish(params: Mapping[str, str | None], *, language: str, page: str) -> None:
    """Show parameters in the address bar; others stay.

    Args:
        params: Values by name; None removes a parameter.
        language: Code of the page's language.
        page: Name of the page; another page sets the address again.
    """
    st.session_state[_PUBLISHED] = {name: value for name, value in params.items() if value is not None}
    query = {**params, **st.session_state.get(_ALWAYS, {})}
    session = st.session_state.setdefault(_SESSION_KEY, uuid.uuid4().hex)
    data = {"params": query, "language": language, "page": page, "session": session}
    data["glossary"] = texts(language)("nav.glossary")
    _mount(key=f"address-{page}", data=data, height="content")


def published() -> dict[str, str]:
    """Return the parameters that this session has shown last."""
    return dict(st.session_state.get(_PUBLISHED, {}))


def publish_always(params: Mapping[str, str | None]) -> None:
    """Add parameters to the address of every page from now on; None removes one."""
    st.session_state[_ALWAYS] = dict(params)
