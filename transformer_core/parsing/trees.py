"""Phrase-structure trees over the words of a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

ROOT = "TOP"
ROOTS = frozenset({ROOT, "ROOT", "S1", ""})  # what treebanks and parsers write around a sentence
UNKNOWN_TAG = "XX"  # a part of speech that nobody knows; Vinyals et al. (2015) write all of them so

_NAME = re.compile(r"[^\s()]+")
_ESCAPES = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_BRACKETS = {"(": "-LRB-", ")": "-RRB-"}


@dataclass(frozen=True)
class Leaf:
    """One word.

    Args:
        tag: Its part of speech.
        word: As it is read, such as `(` for what a treebank writes as -LRB-.
    """

    tag: str
    word: str

    def __post_init__(self) -> None:
        _check_name("tag", self.tag)
        if not self.word or len(self.word.split()) != 1:
            raise ValueError(f"word is {self.word!r}, but must be text without blanks")


@dataclass(frozen=True)
class Tree:
    """A constituent; that of a whole sentence has the label TOP.

    Args:
        label: Its category, such as NP.
        children: One at least.
    """

    label: str
    children: tuple[Tree | Leaf, ...]

    def __post_init__(self) -> None:
        _check_name("label", self.label)
        if not self.children:
            raise ValueError(f"{self.label} has no children, but must have one at least")

    def leaves(self) -> Iterator[Leaf]:
        """All words in order."""
        for child in self.children:
            if isinstance(child, Leaf):
                yield child
            else:
                yield from child.leaves()

    def constituents(self) -> Iterator[Tree]:
        """This one and all inside it, each before those inside it, from left to right."""
        yield self
        for child in self.children:
            if isinstance(child, Tree):
                yield from child.constituents()

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The text of all words in order."""
        return tuple(leaf.word for leaf in self.leaves())

    def __str__(self) -> str:
        """In brackets on one line, as treebanks write it."""
        inner = (f"({c.tag} {escaped(c.word)})" if isinstance(c, Leaf) else str(c) for c in self.children)
        return f"({self.label} {' '.join(inner)})"


class Span(NamedTuple):
    """Where a constituent stands.

    Args:
        label: Its category.
        begin: Its first word, from 0.
        end: The word after its last one.
        parent: Number of the constituent around it; -1 for none.
    """

    label: str
    begin: int
    end: int
    parent: int


def constituent_spans(tree: Tree) -> list[Span]:
    """All constituents of the tree of a sentence, each before those inside it, from left to right.

    TOP counts only where it does not hold one constituent and nothing else.
    """
    only = tree.children[0] if tree.label == ROOT and len(tree.children) == 1 else tree
    found: list[Span] = []

    def add(node: Tree, begin: int, parent: int) -> None:
        number = len(found)
        found.append(Span(node.label, begin, begin + len(node.words), parent))
        for child in node.children:
            if isinstance(child, Tree):
                add(child, begin, number)
            begin += len(child.words) if isinstance(child, Tree) else 1

    add(only if isinstance(only, Tree) else tree, 0, -1)
    return found


def _check_name(kind: str, name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{kind} is {name!r}, but must be text without blanks and round brackets")


def rooted(children: Sequence[Tree | Leaf]) -> Tree:
    """The tree of a sentence, with one TOP over its constituents, however many roots they have already."""
    while len(children) == 1 and isinstance(children[0], Tree) and children[0].label in ROOTS:
        children = children[0].children
    return Tree(ROOT, tuple(children))


def flat_tree(words: Sequence[str]) -> Tree:
    """All words right below TOP: a tree without any constituent."""
    return Tree(ROOT, tuple(Leaf(UNKNOWN_TAG, word) for word in words))


def right_branching(words: Sequence[str]) -> Tree:
    """A baseline: S over the first word and a VP, that over the second word and a VP, and so on.

    English branches to the right, so that such trees have some constituents in common with true ones. The last word,
    mostly a full stop, hangs from S.
    """
    leaves = [Leaf(UNKNOWN_TAG, word) for word in words]
    inner, last = (leaves[:-1], leaves[-1:]) if len(leaves) > 2 else (leaves, [])
    tail: tuple[Tree | Leaf, ...] = tuple(inner[-2:])
    for leaf in reversed(inner[:-2]):
        tail = (leaf, Tree("VP", tail))
    return Tree(ROOT, (Tree("S", (*tail, *last)),))


def escaped(word: str) -> str:
    """A word with round brackets written as treebanks do, -LRB- and -RRB-."""
    return word.replace("(", _BRACKETS["("]).replace(")", _BRACKETS[")"])


def unescaped(word: str) -> str:
    r"""A word as it is read: -LRB- is a bracket, and `\/` and `\*` lose their backslash."""
    return _ESCAPES.get(word) or word.replace("\\/", "/").replace("\\*", "*")
