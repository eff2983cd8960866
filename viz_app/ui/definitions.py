"""Definitions of the glossary as the help of a Streamlit element."""

from __future__ import annotations

from viz_app.text import Texts
from viz_app.text.glossary import definitions


def define(t: Texts, *names: str) -> str:
    """Return the definitions of terms for `help`, a paragraph each."""
    known = definitions()[t.language]
    return "\n\n".join(f"**{word}**: {about}" for word, about in (known[name] for name in names))
