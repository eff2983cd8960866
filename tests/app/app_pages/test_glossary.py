"""The page Glossary, and the definitions that link to it."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from pathlib import Path

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Header, Subheader

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


def test_terms_stand_under_their_letters_in_order(app: AppTest, language: str) -> None:
    opened(app, "glossary", lang=language)
    letters: dict[str, list[str]] = {}
    for element in app.main:
        if isinstance(element, Header):
            letters[element.value] = []
        elif isinstance(element, Subheader):
            letters[list(letters)[-1]].append(element.value.split("(")[0])
    assert list(letters) == sorted(letters) and len(letters) > 10
    for letter, words in letters.items():
        assert words == sorted(words, key=str.casefold) != []
        # Unicode takes a syllable apart, and names the consonant as the letter is named.
        first = {unicodedata.normalize("NFD", word)[0].upper() for word in words}
        assert {unicodedata.name(each).split()[-1] for each in first} == {unicodedata.name(letter).split()[-1]}


def test_the_search_keeps_terms_that_contain_the_words(app: AppTest) -> None:
    opened(app, "glossary", lang="ko")
    app.text_input(key="glossary-query").set_value(" SOFTMAX ").run()
    assert [each.anchor for each in app.subheader] == ["softmax"]  # the English word in brackets
    app.text_input(key="glossary-query").set_value("xyzzy").run()
    assert not app.subheader and app.caption[0].value == texts("ko")("glossary.none")
