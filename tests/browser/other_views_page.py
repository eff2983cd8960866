"""A bare page that shows nothing but the row of other views, for test_other_views.py.

Query parameters: `sample` (sentence, hostile, attack or a number of tokens), `language`, `kind`, `layer`, `head` and
`other`, the last four as on the page Translate. The sample "attack" is a document that BertViz did not make.
"""

from __future__ import annotations

import streamlit as st

from tests.browser import explorer_samples as samples
from transformer_core.attention_maps import AttentionMaps
from viz_app.components.bertviz_frame import bertviz_frame
from viz_app.components.explorer import Selection
from viz_app.state.query_params import selection_from_params
from viz_app.text import texts
from viz_app.ui.external_views import draw_external_views, open_view

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


@st.cache_data
def maps(name: str) -> AttentionMaps:
    """The sample."""
    if name.isdecimal():
        return samples.long_sample(int(name))
    return samples.sample(*(samples.HOSTILE if name == "hostile" else samples.SENTENCE))


def page() -> None:
    """The row, and what Python knows of it."""
    params = st.query_params.to_dict()
    name = params.get("sample", "sentence")
    if name == "attack":
        bertviz_frame(ATTACK, key="attack", title="attack", failed="failed")
        return
    selection = selection_from_params(params, Selection(kind="cross", layer=3, head=5))
    if st.toggle("another head"):
        selection = Selection(kind="decoder", layer=0, head=1, unit="words")
    draw_external_views(texts(params.get("language", "en")), maps(name), selection, (name,), {"source": name})
    st.markdown(f"opened: {open_view()}")


st.set_page_config(layout="wide")
page()
