"""Reader for the brackets of the Penn Treebank, with the usual normalisation before parsing.

It removes function tags and indices (NP-SBJ-1 becomes NP), empty elements, and constituents that hold nothing else.
The children of a bracket without a label go to its parent. The roots TOP, ROOT and S1 become TOP.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from transformer_core.parsing.trees import Leaf, Tree, rooted

MAX_WORDS = 1_000  # of a sentence
MAX_DEPTH = 200  # of brackets
MAX_BRACKETS = 20_000  # of a tree, removed ones included
MAX_CHARACTERS = 1_000_000  # of a line

EMPTY_ELEMENT = "-NONE-"

_TOKENS = re.compile(r"[()]|[^\s()]+")
_FUNCTION_TAG = re.compile(r"[-=|].*")


class TreeError(ValueError):
    """Malformed or oversized tree; the message names the line and the problem."""


@dataclass
class _Bracket:
    """An open bracket."""

    line: int
    label: str | None = None
    word: str | None = None
    children: list[Tree | Leaf] = field(default_factory=list)
    has_brackets: bool = False  # kept or removed


def parse_trees(lines: Iterable[str]) -> Iterator[Tree]:
    """Yield the trees in a text; a tree may span lines, and a line may hold several trees.

    Args:
        lines: With or without line feeds.

    Raises:
        TreeError: Brackets do not match; a bracket has neither word nor constituents, or both, or two words; a tree has
            no words; or a limit is exceeded: MAX_WORDS, MAX_DEPTH, MAX_BRACKETS or MAX_CHARACTERS.
    """
    reader = _Reader()
    number = 0
    for number, line in enumerate(lines, start=1):
        if len(line) > MAX_CHARACTERS:
            raise TreeError(f"line {number}: has more than {MAX_CHARACTERS:,} characters")
        for token in _TOKENS.finditer(line):
            tree = reader.read(token[0], number)
            if tree is not None:
                yield tree
    if reader.stack:
        raise TreeError(f"line {reader.stack[-1].line}: a bracket is never closed")


class _Reader:
    """Incremental reader, so that a tree may span lines."""

    def __init__(self) -> None:
        self.stack: list[_Bracket] = []
        self.words = self.brackets = 0

    def read(self, token: str, line: int) -> Tree | None:
        """Read one more token; return the tree that it completes, if any."""
        if token == "(":
            self._open(line)
            return None
        if not self.stack:
            what = "a closing bracket has no opening one" if token == ")" else f"{token!r} is outside of brackets"
            raise TreeError(f"line {line}: {what}")
        if token == ")":
            return self._close(line)
        self._name(token, line)
        return None

    def _open(self, line: int) -> None:
        if self.stack:
            if self.stack[-1].word is not None:
                raise TreeError(f"line {line}: a bracket has the word {self.stack[-1].word!r} and another bracket")
            self.stack[-1].has_brackets = True
        else:
            self.words = self.brackets = 0
        self.brackets += 1
        self.stack.append(_Bracket(line))
        if len(self.stack) > MAX_DEPTH:
            raise TreeError(f"line {line}: more than {MAX_DEPTH} brackets in one another")
        if self.brackets > MAX_BRACKETS:
            raise TreeError(f"line {line}: the tree has more than {MAX_BRACKETS:,} brackets")

    def _name(self, token: str, line: int) -> None:
        """Set the label first, then the word."""
        bracket = self.stack[-1]
        if bracket.has_brackets:
            raise TreeError(f"line {line}: {token!r} follows a bracket, where only brackets may stand")
        if bracket.label is None:
            bracket.label = token
        elif bracket.word is None:
            bracket.word = token
        else:
            raise TreeError(f"line {line}: a bracket has two words, {bracket.word!r} and {token!r}")

    def _close(self, line: int) -> Tree | None:
        bracket = self.stack.pop()
        parts = self._parts(bracket, line)
        if self.stack:
            self.stack[-1].children.extend(parts)
            return None
        if not parts:
            raise TreeError(f"line {bracket.line}: the tree has no words")
        return rooted(parts)

    def _parts(self, bracket: _Bracket, line: int) -> list[Tree | Leaf]:
        """Return the nodes for the parent: the bracket, its children if it has no label, or nothing if it is empty."""
        label = bracket.label or ""
        if bracket.word is not None:
            if label == EMPTY_ELEMENT:
                return []
            self.words += 1
            if self.words > MAX_WORDS:
                raise TreeError(f"line {line}: the sentence has more than {MAX_WORDS:,} words")
            return [Leaf.from_spelling(label, bracket.word)]
        if not bracket.has_brackets:
            raise TreeError(f"line {line}: the bracket {label!r} has neither a word nor another bracket")
        if not bracket.children or not label:
            return bracket.children
        return [Tree(category(label), tuple(bracket.children))]


def category(label: str) -> str:
    """Remove function tags and indices of a label: NP-SBJ-1, NP=2 and NP|ADVP become NP; -LRB- stays."""
    return label[0] + _FUNCTION_TAG.sub("", label[1:])
