"""Glossary: the field's words in both languages, from `text/terms.toml`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from viz_app.text import LANGUAGES, read_tables


@dataclass(frozen=True)
class Term:
    """One word of the field.

    Args:
        name: Name in a lesson's prose: `{attention}`.
        english: Form in English prose.
        korean: Form in Korean prose.
        why: Reason for this word, in both languages.
        about: One sentence for each language, by its code; empty for a term that nothing explains.
    """

    name: str
    english: str
    korean: str
    why: str
    about: dict[str, str]

    def word(self, language: str, *, first: bool = False) -> str:
        """Return the word in a language; in Korean with the English one in brackets at its first use."""
        if language != "ko":
            return self.english
        return f"{self.korean}({self.english})" if first and self.korean != self.english else self.korean


@cache
def terms() -> dict[str, Term]:
    """Return all terms by name, in the order of the file."""
    return {
        name: Term(
            name,
            english=table["en"],
            korean=table["ko"],
            why=table["why"],
            about={code: table[f"about_{code}"] for code in LANGUAGES if f"about_{code}" in table},
        )
        for name, table in read_tables("terms.toml").items()
    }


@cache
def definitions() -> dict[str, dict[str, tuple[str, str]]]:
    """Return the words that pages explain, for each language: name to word and sentence."""
    return {
        language: {name: (term.word(language), term.about[language]) for name, term in terms().items() if term.about}
        for language in LANGUAGES
    }
