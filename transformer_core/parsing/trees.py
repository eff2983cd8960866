"""Phrase-structure trees over the words of a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

ROOT = "TOP"
ROOTS = frozenset({ROOT, "ROOT", "S1", ""})  # labels around a sentence in treebanks and parsers
UNKNOWN_TAG = "XX"  # unknown part of speech; Vinyals et al. (2015) replace all of them by it

_NAME = re.compile(r"[^\s()]+")
_ESCAPES = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_BRACKETS = {"(": "-LRB-", ")": "-RRB-"}


@dataclass(frozen=True)
class Leaf:
    """One word.

    Args:
        tag: Its part of speech.
        word: Unescaped text, such as `(` for -LRB-.
        spelling: Text in the input, such as -LRB-; empty if it is `word`. It does not count in comparisons.
    """

    tag: str
    word: str
    spelling: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        _check_name("tag", self.tag)
        for text in (self.word, self.spelling or self.word):
            if len(text.split()) != 1:
                raise ValueError(f"word is {text!r}, but must be text without blanks")

    @classmethod
    def from_spelling(cls, tag: str, spelling: str) -> Leaf:
        """Make a leaf from a word as a treebank spells it."""
        return cls(tag, unescaped(spelling), spelling)


@dataclass(frozen=True)
class Tree:
    """A constituent; a whole sentence has the label TOP.

    Args:
        label: Its category, such as NP.
        children: At least one.
    """

    label: str
    children: tuple[Tree | Leaf, ...]

    def __post_init__(self) -> None:
        _check_name("label", self.label)
        if not self.children:
            raise ValueError(f"{self.label} has no children, but must have one at least")

    def leaves(self) -> Iterator[Leaf]:
        """Yield all words in order."""
        for child in self.children:
            if isinstance(child, Leaf):
                yield child
            else:
                yield from child.leaves()

    def constituents(self) -> Iterator[Tree]:
        """Yield this constituent and all inside it, in pre-order."""
        yield self
        for child in self.children:
            if isinstance(child, Tree):
                yield from child.constituents()

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Text of all words in order."""
        return tuple(leaf.word for leaf in self.leaves())

    def respelled(self, spellings: Iterable[str]) -> Tree:
        """Return the tree with its words spelled as in the input, in order."""
        rest = iter(spellings)
        return Tree(
            self.label,
            tuple(
                Leaf(child.tag, child.word, next(rest)) if isinstance(child, Leaf) else child.respelled(rest)
                for child in self.children
            ),
        )

    def __str__(self) -> str:
        """Treebank notation on one line, with the words as the input spells them."""
        inner = (f"({c.tag} {escaped(c.spelling or c.word)})" if isinstance(c, Leaf) else str(c) for c in self.children)
        return f"({self.label} {' '.join(inner)})"


class Span(NamedTuple):
    """Position of a constituent.

    Args:
        label: Its category.
        begin: Its first word, from 0.
        end: The word after its last one.
        parent: Number of the parent; -1 for none.
    """

    label: str
    begin: int
    end: int
    parent: int


def constituent_spans(tree: Tree) -> list[Span]:
    """List all constituents of a sentence in pre-order.

    TOP counts only if it has more than one child.
    """
    only = tree.children[0] if tree.label == ROOT and len(tree.children) == 1 else tree
    result: list[Span] = []

    def add(node: Tree, begin: int, parent: int) -> None:
        number = len(result)
        result.append(Span(node.label, begin, begin + len(node.words), parent))
        for child in node.children:
            if isinstance(child, Tree):
                add(child, begin, number)
            begin += len(child.words) if isinstance(child, Tree) else 1

    add(only if isinstance(only, Tree) else tree, 0, -1)
    return result


def _check_name(kind: str, name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{kind} is {name!r}, but must be text without blanks and round brackets")


def rooted(children: Sequence[Tree | Leaf]) -> Tree:
    """Build the tree of a sentence with exactly one TOP over its constituents."""
    while len(children) == 1 and isinstance(children[0], Tree) and children[0].label in ROOTS:
        children = children[0].children
    return Tree(ROOT, tuple(children))


def flat_tree(words: Sequence[str]) -> Tree:
    """Build a tree without constituents: all words directly below TOP."""
    return Tree(ROOT, tuple(Leaf(UNKNOWN_TAG, word) for word in words))


def right_branching(words: Sequence[str]) -> Tree:
    """Build the right-branching baseline: S over the first word and a VP over the second word and a VP, and so on.

    English branches to the right, so such trees share some constituents with true ones. The last word, mostly a full
    stop, is a child of S.
    """
    leaves = [Leaf(UNKNOWN_TAG, word) for word in words]
    inner, last = (leaves[:-1], leaves[-1:]) if len(leaves) > 2 else (leaves, [])
    tail: tuple[Tree | Leaf, ...] = tuple(inner[-2:])
    for leaf in reversed(inner[:-2]):
        tail = (leaf, Tree("VP", tail))
    return Tree(ROOT, (Tree("S", (*tail, *last)),))


def escaped(word: str) -> str:
    """Escape round brackets as in treebanks: -LRB- and -RRB-."""
    return word.replace("(", _BRACKETS["("]).replace(")", _BRACKETS[")"])


def unescaped(word: str) -> str:
    r"""Decode the escapes of treebanks: -LRB- is a bracket, and `\/` and `\*` lose their backslash."""
    return _ESCAPES.get(word) or word.replace("\\/", "/").replace("\\*", "*")
