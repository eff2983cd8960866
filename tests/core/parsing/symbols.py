"""A parser's symbols without a model, and what a tree is, told by rewriting text: nothing of the code is used."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product

from transformer_core.parsing.vocabulary import SymbolTable

EOS, WORD = 2, 4
TABLE = SymbolTable(size=9, word=WORD, opening={"A": 5, "B": 7}, closing={"A": 6, "B": 8}, eos=EOS)
_LETTERS = {WORD: "x", 5: "a", 6: "A", 7: "b", 8: "B"}


def is_tree(ids: Sequence[int], words: int, max_depth: int = 99, max_opens: int = 99) -> bool:
    """Whether ids are one bracket with a number of words in it: constituents of words are words, until one is left."""
    text = "".join(_LETTERS.get(i, "?") for i in ids)
    depths = [len(re.findall("[ab]", text[:end])) - len(re.findall("[AB]", text[:end])) for end in range(len(text) + 1)]
    bounded = max(depths) <= max_depth and not re.search("[ab]" * (max_opens + 1), text)
    if not bounded or text.count("x") != words or text == "x":
        return False
    before = ""
    while before != text:
        before, text = text, re.sub("ax+A|bx+B", "x", text)
    return text == "x"


def trees(words: int, most: int, **bounds: int) -> Iterator[tuple[int, ...]]:
    """All trees over a number of words with a number of symbols at most."""
    for length in range(1, most + 1):
        yield from (ids for ids in product(_LETTERS, repeat=length) if is_tree(ids, words, **bounds))
