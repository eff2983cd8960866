"""Bare page for browser tests: the share menu, and nothing else.

Query parameters: the `link`, and the `language`.
"""

from __future__ import annotations

import streamlit as st

from viz_app.components.share import share_code
from viz_app.state.share_link import qr_rows
from viz_app.text import texts

st.set_page_config(layout="wide")
params = st.query_params.to_dict()
language = params.get("language", "en")
data = {"url": params["link"], "rows": qr_rows(params["link"]), "command": ""}
labels = texts(language)
with st.popover(labels("share.title")):
    share_code(data | {"texts": labels.table("share"), "language": language})
