"""Code that reports a sentence while it is typed: Streamlit reports a text area only at Ctrl and Enter."""

from __future__ import annotations

from pathlib import Path

from viz_app.components.registration import component

_FILE = Path(__file__).parent / "sentence_field.js"
_mount = component("sentence_field", js=lambda: _FILE.read_text(encoding="utf-8"))


def report_while_typing(pause: int) -> None:
    """Report the text of the field `pause` milliseconds after a key, and at Enter, which makes no new line."""
    _mount(key="code-of-text", data={"pause": pause}, height="content")
