"""Sandbox for BertViz' views: a document from `bertviz_document` in a frame without access to page and network.

    document = bertviz_document(maps, "head", kind="cross", layer=3, head=5)
    bertviz_frame(document, key="bertviz", title="BertViz", failed="BertViz could not draw this.")

Streamlit's own `st.iframe` gives a frame the origin of the app, so a script in it could read the page. This component
makes a frame with only `sandbox="allow-scripts"`.
"""

from __future__ import annotations

from pathlib import Path

from viz_app.components.registration import component

_FOLDER = Path(__file__).parent

_mount = component(
    "bertviz",
    html='<div class="frame">\n<p class="failed" role="alert" hidden></p>\n</div>\n',
    css=lambda: (_FOLDER / "frame.css").read_text(encoding="utf-8"),
    js=lambda: (_FOLDER / "frame.js").read_text(encoding="utf-8"),
)


def bertviz_frame(document: str, *, key: str, title: str, failed: str) -> None:
    """Show a document; the old one stays until the new one is drawn.

    Args:
        document: From `bertviz_document`. The same text is not loaded twice.
        key: Identity of the component.
        title: Title of the frame for screen readers.
        failed: Message when its scripts fail.
    """
    _mount(key=key, data={"document": document, "title": title, "failed": failed}, height="content")
