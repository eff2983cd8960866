"""About dialog: version, citation, licences, help and keys."""

from __future__ import annotations

import streamlit as st

from transformer_core import __version__
from viz_app.text import Texts

CITATION = f"""@software{{headlight,
  title   = {{Headlight: see every head of the Transformer}},
  version = {{{__version__}}},
  note    = {{A model after Vaswani et al., Attention Is All You Need, NeurIPS 2017}}
}}"""
# As the repository has them: the app works offline and links nowhere.
_DOCUMENTS = ("README.md", "docs/teaching.md", "docs/training.md", "docs/fidelity.md", "SECURITY.md")
_KEYS = ("space", "arrows", "lines", "pages", "enter", "code", "escape")


def about_text(t: Texts) -> str:
    """Return the whole text as Markdown."""
    return f"{_before_citation(t)}\n\n```\n{CITATION}\n```\n\n{_licences(t)}"


def draw_about(t: Texts) -> None:
    """For `session.enqueue_callback`: open the dialog."""

    def body() -> None:
        st.markdown(_before_citation(t))
        st.code(CITATION, language=None, wrap_lines=True)
        st.markdown(_licences(t))

    st.dialog(t("about.title"), width="large")(body)()


def _before_citation(t: Texts) -> str:
    documents = "\n".join(f"* `{path}`: {t(f'about.doc_{number}')}" for number, path in enumerate(_DOCUMENTS, start=1))
    keys = "\n".join(f"* {t(f'about.key_{name}')}" for name in _KEYS)
    parts = [f"**Headlight {__version__}**", t("frame.about")]
    documents += f"\n* [{t('nav.glossary')}](glossary?lang={t.language})"
    parts += [f"**{t('about.help')}**", documents, f"**{t('about.keys')}**", keys, f"**{t('about.citation')}**"]
    return "\n\n".join(parts)


def _licences(t: Texts) -> str:
    return f"**{t('about.licences')}**\n\n{t('about.licence')}"
