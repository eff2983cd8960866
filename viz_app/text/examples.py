"""Example sentences of the home page, from `examples.toml`.

A parser has its own sentences. Models that read German, French or Korean have sentences of the same meaning; for other
languages there are none.
"""

from __future__ import annotations

from viz_app.text import read_tables

_BY_LANGUAGE = read_tables("examples.toml")
TREE_EXAMPLES = _BY_LANGUAGE.pop("tree")
EXAMPLES = _BY_LANGUAGE["en"]
FIRST_EXAMPLE = "word_order"


def examples_of(language: str, *, parses: bool = False) -> dict[str, str]:
    """Return the example sentences for a model, by name.

    Args:
        language: BCP 47 code of its source language; empty if unknown, which gives the English sentences.
        parses: Whether it is a parser.
    """
    return TREE_EXAMPLES if parses else _BY_LANGUAGE.get(language.split("-")[0].lower() or "en", {})


def first_example(language: str) -> str:
    """Return the sentence of the field at the start; empty without examples."""
    return examples_of(language).get(FIRST_EXAMPLE, "")


def counterpart(text: str, old: str, new: str) -> str | None:
    """Translate an example into another language, "" if that has none; None for any other text."""
    name = next((name for name, example in examples_of(old).items() if example == text), None)
    return None if name is None else examples_of(new).get(name, "")
