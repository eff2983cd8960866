"""The glossary: the words of the field in both languages, from `text/terms.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FILE = Path(__file__).parents[1] / "text" / "terms.toml"


@dataclass(frozen=True)
class Term:
    """A word of the field.

    Args:
        name: How a lesson's prose names it: `{attention}`.
        english: As it stands in English prose.
        korean: As it stands in Korean prose.
        about: One sentence for each language, by its code.
    """

    name: str
    english: str
    korean: str
    about: dict[str, str]

    def word(self, language: str, *, first: bool = False) -> str:
        """The word in a language; in Korean with the English one in brackets where it comes first."""
        if language != "ko":
            return self.english
        return f"{self.korean}({self.english})" if first and self.korean != self.english else self.korean


@cache
def terms() -> dict[str, Term]:
    """All terms by name, in the order of the file."""
    with _FILE.open("rb") as file:
        tables = tomllib.load(file)
    return {
        name: Term(name, table["en"], table["ko"], {"en": table["about_en"], "ko": table["about_ko"]})
        for name, table in tables.items()
    }
