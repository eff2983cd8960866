"""Linearised trees, as in Vinyals et al. (2015), which Section 6.3 follows; and a tree from any sequence.

    (S (NP XX )NP (VP XX (NP XX XX )NP )VP XX )S

Every word is XX, whatever its part of speech. TOP is left out if it has only one child, a constituent.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from transformer_core.parsing.treebank import MAX_DEPTH
from transformer_core.parsing.trees import ROOT, UNKNOWN_TAG, Leaf, Span, Tree, constituent_spans, rooted

WORD = "XX"

Brackets = tuple[int | None, int | None]  # positions of the opening and the closing one

_BRACKET = re.compile(r"([()])([^\s()]+)")

# Repairs of a malformed sequence. One may cause another: without an extra word its constituent may be empty.
REPAIRS = {
    "unknown_symbol": "A symbol that is neither a bracket nor XX is dropped.",
    "unmatched_close": "A closing bracket whose constituent is not open is dropped.",
    "too_deep": f"An opening bracket inside {MAX_DEPTH - 1} others is dropped.",
    "extra_word": "An XX after the last word is dropped.",
    "closed_early": "A constituent is closed with the one around it.",
    "never_closed": "A constituent is closed at the end of the sequence.",
    "missing_word": "A word without an XX goes into the last constituent below TOP.",
    "empty_constituent": "A constituent without words is dropped.",
    "no_single_root": "Several constituents or words without a common root go below TOP.",
}


@dataclass(frozen=True)
class Repaired:
    """Tree built from any sequence of symbols.

    Args:
        tree: Over exactly the given words, in order.
        repairs: Count of each of REPAIRS; empty for a well-formed sequence.
        brackets: Positions of the brackets of each of `tree.constituents()`; None for a missing bracket.
        marks: Position of the XX of each word; None for a missing one.
    """

    tree: Tree
    repairs: Mapping[str, int]
    brackets: tuple[Brackets, ...]
    marks: tuple[int | None, ...]

    @property
    def spans(self) -> list[tuple[Span, Brackets]]:
        """`constituent_spans` of the tree, each with its brackets in the sequence."""
        spans = constituent_spans(self.tree)
        return list(zip(spans, self.brackets[len(self.brackets) - len(spans) :], strict=True))  # perhaps without TOP

    @property
    def is_well_formed(self) -> bool:
        """Whether the sequence needed no repair."""
        return not self.repairs


@dataclass
class _Constituent:
    label: str
    opening: int | None = None
    closing: int | None = None
    children: list[_Constituent | Leaf] = field(default_factory=list)


def to_symbols(tree: Tree) -> tuple[str, ...]:
    """Linearise the tree of a sentence."""
    only = tree.children[0] if tree.label == ROOT and len(tree.children) == 1 else tree
    return tuple(_symbols(only if isinstance(only, Tree) else tree))


def _symbols(tree: Tree) -> Iterator[str]:
    yield f"({tree.label}"
    for child in tree.children:
        if isinstance(child, Leaf):
            yield WORD
        else:
            yield from _symbols(child)
    yield f"){tree.label}"


def to_tree(symbols: Sequence[str], words: Sequence[str]) -> Repaired:
    """Build a well-formed tree over the words from any sequence of symbols; see REPAIRS.

    Args:
        symbols: Without `<s>` and `</s>`.
        words: At least one.

    Raises:
        ValueError: There are no words.
    """
    if not words:
        raise ValueError("a tree needs one word at least")
    repairs: Counter[str] = Counter()
    top = _Constituent(ROOT)
    stack = [top]
    leaves = [Leaf(UNKNOWN_TAG, word) for word in words]
    marks: list[int | None] = []
    used = 0
    for position, symbol in enumerate(symbols):
        bracket = _BRACKET.fullmatch(symbol)
        if symbol == WORD:
            if used < len(leaves):
                stack[-1].children.append(leaves[used])
                marks.append(position)
            used += 1
        elif bracket is None:
            repairs["unknown_symbol"] += 1
        elif bracket[1] == ")":
            _close(stack, bracket[2], position, repairs)
        elif len(stack) == MAX_DEPTH:
            repairs["too_deep"] += 1
        else:
            opened = _Constituent(bracket[2], position)
            stack[-1].children.append(opened)
            stack.append(opened)
    repairs["never_closed"] += len(stack) - 1
    repairs["extra_word"] += max(0, used - len(leaves))
    missing = leaves[used:]
    repairs["missing_word"] += len(missing)
    last = top.children[-1] if top.children else top
    (last if isinstance(last, _Constituent) else top).children.extend(missing)
    brackets: list[Brackets] = []
    children = _frozen(top, brackets, repairs)
    if not (len(children) == 1 and isinstance(children[0], Tree)):
        repairs["no_single_root"] += 1
    tree = rooted(children)
    inner = len(brackets) - sum(1 for _ in tree.constituents()) + 1  # the first ones are roots that TOP replaces
    return Repaired(
        tree,
        {name: repairs[name] for name in REPAIRS if repairs[name]},
        ((brackets[0] if inner else (None, None)), *brackets[inner:]),
        (*marks, *(None for _ in missing)),
    )


def _close(stack: list[_Constituent], label: str, position: int, repairs: Counter[str]) -> None:
    """Close the innermost open constituent with this label, and all inside it."""
    depth = next((depth for depth in range(len(stack) - 1, 0, -1) if stack[depth].label == label), 0)
    if not depth:
        repairs["unmatched_close"] += 1
        return
    repairs["closed_early"] += len(stack) - 1 - depth
    stack[depth].closing = position
    del stack[depth:]


def _frozen(constituent: _Constituent, brackets: list[Brackets], repairs: Counter[str]) -> tuple[Tree | Leaf, ...]:
    """Return the children that hold words; append the brackets of their constituents to `brackets`."""
    children: list[Tree | Leaf] = []
    for child in constituent.children:
        if isinstance(child, Leaf):
            children.append(child)
            continue
        place = len(brackets)
        brackets.append((child.opening, child.closing))
        if inner := _frozen(child, brackets, repairs):
            children.append(Tree(child.label, inner))
        else:
            del brackets[place:]
            repairs["empty_constituent"] += 1
    return tuple(children)
