"""A made-up treebank: trees of a small grammar. And trees and symbols of any shape, for properties."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from transformer_core.parsing.trees import Leaf, Tree

_WORDS = {
    "DT": ("the", "a", "every"),
    "JJ": ("small", "green", "sleepy"),
    "NN": ("cat", "river", "teacher", "lamp", "baker"),
    "PRP": ("she", "it"),
    "VBZ": ("sees", "paints", "follows"),
    "IN": ("near", "with", "behind"),
    ".": (".",),
}
_RULES = {
    "S": (("NP", "VP", "."),),
    "NP": (("DT", "NN"), ("DT", "JJ", "NN"), ("PRP",), ("NP", "PP")),
    "VP": (("VBZ", "NP"), ("VBZ", "NP", "PP"), ("VBZ",)),
    "PP": (("IN", "NP"),),
}


def _expand(symbol: str, rng: random.Random, depth: int) -> Tree | Leaf:
    if symbol in _WORDS:
        return Leaf(symbol, rng.choice(_WORDS[symbol]))
    rules = _RULES[symbol] if depth < 4 else _RULES[symbol][:1]
    return Tree(symbol, tuple(_expand(child, rng, depth + 1) for child in rng.choice(rules)))


def made_up_trees(count: int, seed: int = 1) -> list[Tree]:
    """Trees of sentences such as "she follows a green lamp near the river ."."""
    rng = random.Random(seed)
    return [Tree("TOP", (_expand("S", rng, 0),)) for _ in range(count)]


LABELS = st.sampled_from(["S", "NP", "VP", "X-", "$", "TOP"])
WORDS = st.sampled_from(["a", "B.", "(", ")", "''", "10/3", "ß", "-", "XX"])
LEAVES = st.builds(Leaf, st.sampled_from(["NN", ".", "XX", "-LRB-"]), WORDS)


def _constituents(inner: st.SearchStrategy[Tree | Leaf]) -> st.SearchStrategy[Tree | Leaf]:
    return st.builds(Tree, LABELS, st.lists(inner, min_size=1, max_size=4).map(tuple))


NODES: st.SearchStrategy[Tree | Leaf] = st.recursive(LEAVES, _constituents, max_leaves=20)

# Symbols, and what is none.
SYMBOLS = st.one_of(
    st.sampled_from(["XX", "(S", ")S", "(NP", ")NP", "(TOP", ")TOP"]),
    st.sampled_from(["", "(", ")", "()", "((S", "NP", "<unk>", "\u2047", "( S"]),
)
SENTENCES = st.lists(WORDS, min_size=1, max_size=6)
