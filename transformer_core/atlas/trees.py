"""Dependency trees in CoNLL-U (Universal Dependencies 2), with the span of each word in the raw text.

The words of a multi-word token, such as "do" and "n't" in "don't", have spans if they concatenate to it; otherwise, as
in French "du", they have none. Empty nodes are not words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformer_core.analysis.word_weights import Span
from transformer_core.data import DataError, read_lines
from transformer_core.extras import extra

RELATIONS = (
    "acl", "advcl", "advmod", "amod", "appos", "aux", "case", "cc", "ccomp", "clf", "compound", "conj", "cop", "csubj",
    "dep", "det", "discourse", "dislocated", "expl", "fixed", "flat", "goeswith", "iobj", "list", "mark", "nmod",
    "nsubj", "nummod", "obj", "obl", "orphan", "parataxis", "punct", "reparandum", "vocative", "xcomp",
)  # fmt: skip
ROOT = "root"
_COLUMNS = 10
_MAX_CHARACTERS = 100_000  # of a line
_MAX_LINES = 2_000  # of a sentence
_MAX_SENTENCES = 100_000


@dataclass(frozen=True)
class Tree:
    """Dependency tree of a sentence.

    Args:
        text: The raw sentence.
        words: Span of each syntactic word; None for a word without one.
        heads: Number of each word's head, from 0; -1 for the root.
        relations: Relation of each word to its head, without a subtype; `root` for the root.
    """

    text: str
    words: tuple[Span | None, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]


def read_trees(path: Path | str) -> Iterator[Tree]:
    """Yield the trees of a file, plain or compressed.

    Raises:
        DataError: The file cannot be read, is too long, or has an invalid line, which the message names.
    """
    block: list[tuple[int, str]] = []
    sentences = 0
    for number, line in enumerate(read_lines(Path(path), _MAX_CHARACTERS), start=1):
        if line.strip():
            block.append((number, line))
            if len(block) > _MAX_LINES:
                raise DataError(f"{path}, line {number}: a sentence has more than {_MAX_LINES:,} lines")
            continue
        if block:
            sentences += 1
            if sentences > _MAX_SENTENCES:
                raise DataError(f"{path}, line {number}: more than {_MAX_SENTENCES:,} sentences")
            yield _tree(path, block)
            block = []
    if block:
        yield _tree(path, block)


def _tree(path: Path | str, block: list[tuple[int, str]]) -> Tree:
    """Parse one sentence. Raises DataError."""
    text: str | None = None
    words: list[tuple[int, dict[str, Any]]] = []  # line number, and fields
    surface: list[tuple[int, str, bool, int, int]] = []  # line, form, whether a blank follows, first and last word
    for number, line in block:
        if line.startswith("#"):
            key, equals, value = line[1:].partition("=")
            if equals and key.strip() == "text":
                text = value.strip()
            continue
        token = _token(path, number, line)
        match token["id"]:
            case int(word):
                if word != len(words) + 1:
                    raise DataError(f"{path}, line {number}: word {word} comes after word {len(words)}")
                words.append((number, token))
                if not surface or surface[-1][4] < word:
                    surface.append((number, token["form"], _blank(token), word, word))
            case (int(first), "-", int(last)):
                if first != len(words) + 1:
                    raise DataError(f"{path}, line {number}: token {first}-{last} comes after word {len(words)}")
                surface.append((number, token["form"], _blank(token), first, last))
            case (int(), ".", int()):
                continue
            case _:
                raise DataError(f"{path}, line {number}: a word has no number")
    if not words:
        raise DataError(f"{path}, line {block[0][0]}: a sentence has no words")
    if surface[-1][4] > len(words):
        raise DataError(f"{path}, line {surface[-1][0]}: token {surface[-1][1]!r} has words that do not follow")
    if text is None:
        text = "".join(form + " " * blank for _, form, blank, _, _ in surface).strip()
    forms = [str(token["form"]) for _, token in words]
    heads, relations = _relations(path, words)
    return Tree(text, _spans(path, text, surface, forms), heads, relations)


def _token(path: Path | str, number: int, line: str) -> dict[str, Any]:
    with extra("atlas"):
        from conllu.exceptions import ParseException
        from conllu.parser import parse_line

    columns = line.split("\t")
    if len(columns) != _COLUMNS:
        raise DataError(f"{path}, line {number}: {len(columns)} columns, but CoNLL-U has {_COLUMNS}")
    fields = ("id", "form", "head", "deprel", "misc")
    try:
        fields_read = [columns[place] if columns[place] else "_" for place in (0, 1, 6, 7, 9)]
        return dict(parse_line("\t".join(fields_read), fields))
    except (ParseException, IndexError) as error:
        raise DataError(f"{path}, line {number}: {error}") from error


def _blank(token: dict[str, Any]) -> bool:
    return (token["misc"] or {}).get("SpaceAfter") != "No"


def _relations(path: Path | str, words: list[tuple[int, dict[str, Any]]]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    heads, relations = [], []
    for number, token in words:
        head, relation = token["head"], str(token["deprel"]).partition(":")[0]
        if not isinstance(head, int) or not 0 <= head <= len(words) or head == token["id"]:
            raise DataError(f"{path}, line {number}: head {head} is no other word of this sentence")
        if (relation == ROOT) != (head == 0) or relation not in (*RELATIONS, ROOT):
            raise DataError(f"{path}, line {number}: {relation!r} with head {head} is no relation of UD 2")
        heads.append(head - 1)
        relations.append(relation)
    return tuple(heads), tuple(relations)


def _spans(
    path: Path | str, text: str, surface: list[tuple[int, str, bool, int, int]], forms: list[str]
) -> tuple[Span | None, ...]:
    """Return the span of every word. Raises DataError if the forms do not match the text."""
    spans: list[Span | None] = []
    at = 0
    for number, form, _, first, last in surface:
        start = text.find(form, at)
        if start < 0 or text[at:start].strip():
            raise DataError(f"{path}, line {number}: {form!r} is not what the text has next: {text[at : at + 20]!r}")
        at = start + len(form)
        parts = forms[first - 1 : last]
        if "".join(parts) != form:
            spans += [None] * len(parts)
            continue
        for part in parts:
            spans.append((start, start + len(part)))
            start += len(part)
    return tuple(spans)
