"""Share menu: the link and its QR code, and what to give for home."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from viz_app.components.share import share_code
from viz_app.serving.settings import site_address
from viz_app.state.share_link import lan_address, qr_rows, share_link
from viz_app.text import Texts
from viz_app.ui.menu import menu


def share_data(t: Texts, page: str, params: Mapping[str, str | None], target: str | None = None) -> dict[str, Any]:
    """Return the link to a page and its code, for the browser. Hidden answers are not in it.

    Args:
        t: Labels.
        page: Path of the page that is open.
        params: The state.
        target: Path of the page that the link opens, if it is another one.
    """
    seen, bound = st.context.url or "", st.get_option("server.address")
    shared = share_link(seen, bound, page, params, lan_address(), target)
    return code_data(t, shared.url, "" if shared.is_reachable else shared.command)


def code_data(t: Texts, url: str, command: str = "") -> dict[str, Any]:
    """Return an address and its code, for the browser; or the command that opens the app to others."""
    texts = t.table("share")
    return {"url": url, "rows": qr_rows(url), "command": command, "texts": texts, "language": t.language}


def draw_share(t: Texts, page: str, params: Mapping[str, str | None], *, key: str = "menu-share") -> None:
    """Draw a popover with the link, and the button that fills the screen with its code; `key` tells several apart."""
    with menu(t("share.title"), key=key, icon=":material/qr_code_2:") as is_open:
        if is_open:
            draw_link(t, page, params)


def draw_link(t: Texts, page: str, params: Mapping[str, str | None]) -> None:
    """Draw the link and its code."""
    data = share_data(t, page, params)
    draw_code(t, data)
    st.code(data["url"], language=None, wrap_lines=True)
    draw_for_home(t)


def draw_for_home(t: Texts) -> None:
    """Draw how to give a lesson as a file, and all of them as a site."""
    st.caption(t("share.home"))
    st.code(site_address() or "python -m viz_app site --out site", language=None, wrap_lines=True)


def draw_code(t: Texts, data: Mapping[str, Any]) -> None:
    """Draw the QR code of a link, or the command that opens the app to others; `data` is of `share_data`."""
    if data["command"]:
        st.markdown(t("share.closed"))
        st.code(data["command"], language=None)
    elif data["rows"] is None:
        st.caption(t("share.too_long"))
    else:
        share_code(data)
