"""The button that shows the link and its QR code."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from viz_app.state.share_link import lan_address, qr_code, share_link
from viz_app.text import Texts


def draw_share(t: Texts, page: str, params: Mapping[str, str | None]) -> None:
    """A popover with the link to what is on the screen. Answers that are hidden are not in it."""
    with st.popover(t("share.title"), icon=":material/qr_code_2:"):
        shared = share_link(st.context.url or "", st.get_option("server.address"), page, params, lan_address())
        if not shared.is_reachable:
            st.caption(t("share.closed"))
            st.code("python -m viz_app class", language=None)
        code = qr_code(shared.url)
        if code is None:
            st.caption(t("share.too_long"))
        elif shared.is_reachable:
            st.image(code, width=260, alt=t("share.code"))
        st.code(shared.url, language=None, wrap_lines=True)
