"""Definitions of the glossary as the help of a Streamlit element."""

from __future__ import annotations

from viz_app.text import Texts
from viz_app.text.glossary import definitions


def define(t: Texts, *names: str) -> str:
    """Return the definitions of terms for `help`, a paragraph each, and a link to the page Glossary."""
    known = definitions()[t.language]
    paragraphs = [f"**{word}**: {about}" for word, about in (known[name] for name in names)]
    return "\n\n".join([*paragraphs, f"[{t('nav.glossary')}](glossary?lang={t.language}#{names[0]})"])
