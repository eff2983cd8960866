"""Glossary: the field's words in each language, from `text/terms.toml`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from viz_app.text import DEFAULT_LANGUAGE, LANGUAGES, read_tables

_SYLLABLES, _PER_CONSONANT = 0xAC00, 588  # Unicode orders the syllables of Hangul by their first consonant
_CONSONANTS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"


@dataclass(frozen=True)
class Term:
    """One word of the field.

    Args:
        name: Name in a lesson's prose: `{attention}`.
        words: Form in the prose of each language, by its code.
        why: Reason for this word, in all languages.
        about: One sentence for each language, by its code; empty for a term that nothing explains.
    """

    name: str
    words: dict[str, str]
    why: str
    about: dict[str, str]

    def word(self, language: str, *, first: bool = False) -> str:
        """Return the word in a language; with the English one in brackets at its first use."""
        word, english = self.words[language], self.words[DEFAULT_LANGUAGE]
        return f"{word}({english})" if first and word != english else word


@cache
def terms() -> dict[str, Term]:
    """Return all terms by name, in the order of the file. Raises KeyError for a word or a sentence that is missing."""
    return {name: _term(name, table) for name, table in read_tables("terms.toml").items()}


def _term(name: str, table: dict[str, str]) -> Term:
    about = [f"about_{code}" for code in LANGUAGES] if f"about_{DEFAULT_LANGUAGE}" in table else []
    if missing := [key for key in (*LANGUAGES, *about, "why") if key not in table]:
        raise KeyError(f"there is no text {missing[0]!r} in [{name}] of text/terms.toml")
    words = {code: table[code] for code in LANGUAGES}
    return Term(name, words, table["why"], {key.removeprefix("about_"): table[key] for key in about})


@cache
def definitions() -> dict[str, dict[str, tuple[str, str]]]:
    """Return the words that pages explain, for each language: name to word and sentence."""
    return {
        language: {name: (term.word(language), term.about[language]) for name, term in terms().items() if term.about}
        for language in LANGUAGES
    }


def by_letter(language: str, query: str = "") -> dict[str, list[Term]]:
    """Return the explained terms that contain a query, in the alphabet of a language, by their first letters."""
    asked = query.strip().casefold()
    groups: dict[str, list[Term]] = {}
    for term in sorted(terms().values(), key=lambda term: term.word(language).casefold()):
        if term.about and asked in f"{term.word(language, first=True)} {term.about[language]}".casefold():
            groups.setdefault(_letter(term.word(language)), []).append(term)
    return groups


def _letter(word: str) -> str:
    place = (ord(word[0]) - _SYLLABLES) // _PER_CONSONANT
    return _CONSONANTS[place] if 0 <= place < len(_CONSONANTS) else word[0].upper()
