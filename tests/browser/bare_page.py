"""Bare pages for browser tests: the explorer, the row of other views, or the share menu, and nothing else.

The query parameter `show` says which, and `language` in what; the functions say what else each of them takes.
"""

from __future__ import annotations

import streamlit as st

from tests.browser.file_explorer import START, sample, sample_maps
from viz_app.components.bertviz_frame import bertviz_frame
from viz_app.components.explorer.mount import explorer
from viz_app.components.explorer.selection import Selection
from viz_app.components.share import share_code
from viz_app.state.query_params import selection_from_params
from viz_app.state.share_link import qr_rows
from viz_app.text import texts
from viz_app.ui.translate.external_views import draw_external_views, open_view

ATTACK = """<!DOCTYPE html><title>attack</title><script>
const tried = [];
for (const reach of [
  () => parent.document.body, () => { top.location = "about:blank"; }, () => localStorage.x, () => document.cookie,
  () => { if (!open("about:blank")) throw new Error("no window"); },
]) {
  try { reach(); tried.push("reached"); } catch (error) { tried.push("refused"); }
}
parent.postMessage({ height: 1e9, tried }, "*");
parent.postMessage("text", "*");
parent.postMessage(null, "*");
window.tried = tried;
</script><p>attack</p>"""

params = st.query_params.to_dict()
language = params.get("language", "en")


def explorer_page() -> None:
    """Of the sample "sentence"."""
    explorer(sample("sentence", language), key="explorer", selection=START)


def views_page() -> None:
    """The row of other views of a `sample`; `head` and `other` are as on the page Translate.

    The sample "attack" is a document that BertViz did not make.
    """
    name = params.get("sample", "sentence")
    if name == "attack":
        bertviz_frame(ATTACK, key="attack", title="attack", failed="failed")
        return
    selection = selection_from_params(params, START)
    if st.toggle("another head"):
        selection = Selection(kind="decoder", layer=0, head=1, unit="words")
    draw_external_views(texts(language), sample_maps(name), selection, (name,), {"source": name})
    st.markdown(f"opened: {open_view()}")


def share_page() -> None:
    """The code of a `link` in a menu, as on a page that others can open."""
    data = {"url": params["link"], "rows": qr_rows(params["link"]), "command": ""}
    labels = texts(language)
    with st.popover(labels("share.title")):
        share_code(data | {"texts": labels.table("share"), "language": language})


PAGES = {
    "explorer": explorer_page,
    "views": views_page,
    "share": share_page,
}
st.set_page_config(layout="wide")
PAGES[params.get("show", "explorer")]()
