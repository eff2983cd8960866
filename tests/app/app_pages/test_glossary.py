"""The page Glossary, and the definitions that link to it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from streamlit.testing.v1 import AppTest

import viz_app.text as text
from tests.app.mounted import opened
from viz_app.text import texts
from viz_app.ui.definitions import define


def test_the_page_defines_every_term_where_definitions_link_to_it(app: AppTest, language: str) -> None:
    opened(app, "glossary", lang=language)
    assert not app.exception
    terms = tomllib.loads((Path(text.__file__).parent / "terms.toml").read_text(encoding="utf-8"))
    explained = {name: term for name, term in terms.items() if f"about_{language}" in term}
    anchors = {each.anchor: each.value for each in app.subheader}
    assert anchors.keys() == explained.keys()
    shown = [each.value for each in app.markdown]
    for name, term in explained.items():
        assert anchors[name].startswith(term[language]) and term[f"about_{language}"] in shown
        link = re.search(r"\]\((\w+)\?lang=(\w+)#(\w+)\)$", define(texts(language), name))
        assert link is not None and link.groups() == ("glossary", language, name)
