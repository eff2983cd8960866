"""Labels of the app, in English and Korean.

`en.toml` and `ko.toml` hold the same keys, one table for each page or browser component; the lessons add theirs from
their folders (`viz_app.lessons.labels`). `parser.en.toml` and `parser.ko.toml` hold the labels that differ for a
parser, whose output is a tree. A placeholder is written `{name}` and filled in one pass, so braces in a value stay:
user text is never a format. `{count|step|steps}` is the first word if the count is 1, else the second.
`{source_language}` is filled beforehand.
"""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path

from babel import Locale

LANGUAGE_NAMES = {"en": "English", "ko": "한국어"}  # CONTRIBUTING.md says what a further one needs
LANGUAGES = tuple(LANGUAGE_NAMES)
DEFAULT_LANGUAGE = "en"

_FOLDER = Path(__file__).parent
_SOURCE_LANGUAGE = "{source_language}"
_PLACEHOLDER = re.compile(r"\{([a-z_]+)(?:\|([^{}|]+)\|([^{}|]+))?\}")


class Texts:
    """Labels of one language.

    Args:
        language: Code of the language, one of `LANGUAGES`.
        tables: Labels by table and key.
    """

    def __init__(self, language: str, tables: dict[str, dict[str, str]]) -> None:
        self.language = language
        self._tables = tables

    def __call__(self, key: str, **values: object) -> str:
        """Return the label `table.name` with its placeholders filled.

        Raises:
            KeyError: When the label does not exist or a placeholder has no value.
        """
        table, _, name = key.partition(".")
        try:
            template = self._tables[table][name]
        except KeyError:
            raise KeyError(f"there is no text {name!r} in [{table}] of {self._file(table)}") from None
        return fill(template, **values)

    def table(self, name: str) -> dict[str, str]:
        """Return a copy of the labels of one table, placeholders unfilled, for a browser component."""
        if name not in self._tables:
            raise KeyError(f"there is no table [{name}] in {self._file(name)}")
        return dict(self._tables[name])

    def _file(self, table: str) -> str:
        """Return the path of the file that has a table, or should have it."""
        lesson = table.removeprefix("lesson_")
        return f"text/{self.language}.toml" if lesson == table else f"lessons/{lesson}/labels.{self.language}.toml"

    def with_tables(self, tables: dict[str, dict[str, str]]) -> Texts:
        """Add tables of the same language. Raises ValueError for a table that exists already."""
        if twice := sorted(self._tables.keys() & tables.keys()):
            raise ValueError(f"the table [{twice[0]}] appears twice in {self.language}")
        return Texts(self.language, {**self._tables, **tables})

    def language_name(self, code: str) -> str:
        """Return the name of a language by its BCP 47 code: German for "de" and "de-AT"; the code if it has no name."""
        name = code.split("-")[0].lower() or "unknown"
        return self._tables["languages"].get(name) or Locale(self.language).languages.get(name, code)

    def for_source(self, code: str) -> Texts:
        """Return these labels for a model that reads this language; "" for an unknown one."""
        name = self.language_name(code)
        return Texts(
            self.language,
            {
                table: {key: label.replace(_SOURCE_LANGUAGE, name) for key, label in labels.items()}
                for table, labels in self._tables.items()
            },
        )

    def reworded(self, tables: dict[str, dict[str, str]]) -> Texts:
        """Return these labels with some replaced; labels without a place here are left out."""
        return Texts(
            self.language,
            {
                name: table | {key: label for key, label in tables.get(name, {}).items() if key in table}
                for name, table in self._tables.items()
            },
        )


def fill(template: str, **values: object) -> str:
    """Replace each `{name}` by its value, once. Raises KeyError for a placeholder without a value."""

    def filled(match: re.Match[str]) -> str:
        name, one, other = match.groups()
        value = str(values[name])
        return value if one is None else one if value == "1" else other

    return _PLACEHOLDER.sub(filled, template)


@lru_cache(maxsize=64)
def texts(language: str, *, parses: bool = False, source: str = "en") -> Texts:
    """Return the labels of a language, read once.

    Args:
        language: One of LANGUAGES.
        parses: Whether they are for a parser.
        source: BCP 47 code of the model's source language; empty if unknown.

    Raises:
        ValueError: The app does not speak this language.
    """
    if language not in LANGUAGES:
        raise ValueError(f"language is {language!r}, but must be one of {', '.join(LANGUAGES)}")
    words = Texts(language, read_tables(f"{language}.toml"))
    return (words.reworded(parser_wording(language)) if parses else words).for_source(source)


def parser_wording(language: str) -> dict[str, dict[str, str]]:
    """Return the labels that differ for a parser, by table and key."""
    return read_tables(f"parser.{language}.toml")


def read_tables(name: str) -> dict[str, dict[str, str]]:
    """Return the tables of a file of this folder."""
    with (_FOLDER / name).open("rb") as file:
        return tomllib.load(file)


def best_language(requested: str | None, locale: str | None = None) -> str:
    """Return the wanted language if the app has it, else that of a locale such as `ko-KR`, else English."""
    for candidate in (requested, (locale or "").replace("_", "-").split("-")[0].lower()):
        if candidate in LANGUAGES:
            return candidate
    return DEFAULT_LANGUAGE
