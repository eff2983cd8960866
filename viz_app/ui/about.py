"""About: version, citation, licences, help and keys."""

from __future__ import annotations

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
    """Return the text of the menu's dialog as Markdown."""
    documents = [f"* `{path}`: {t(f'about.doc_{number}')}" for number, path in enumerate(_DOCUMENTS, start=1)]
    documents.append(f"* [{t('nav.glossary')}](glossary?lang={t.language})")
    keys = "\n".join(f"* {t(f'about.key_{name}')}" for name in _KEYS)
    parts = [f"**Headlight {__version__}**", t("frame.about"), f"**{t('about.help')}**", "\n".join(documents)]
    parts += [f"**{t('about.keys')}**", keys, f"**{t('about.citation')}**", f"```\n{CITATION}\n```"]
    return "\n\n".join([*parts, f"**{t('about.licences')}**", t("about.licence")])
