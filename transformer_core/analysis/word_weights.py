"""Weights between words from weights between tokens: sum over the keys of a word, mean over its queries.

Words are spans of characters, independent of the tokens: from a treebank, a gold alignment, or another model's
vocabulary. A token belongs to the word of its last character.

Shape legend: n tokens, W words, Q queries, K keys.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from transformer_core.text.tokenizer import Encoding

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Span = tuple[int, int]  # characters of a text, [begin, end)


def blank_words(text: str) -> list[Span]:
    """Return the spans of the words between blanks, the same for every vocabulary."""
    return [match.span() for match in re.finditer(r"\S+", text)]


def membership(encoding: Encoding, words: Sequence[Span | None]) -> BoolArray:
    """Return (n, W), True for the word of each token.

    Args:
        encoding: Tokens of a text, with their spans.
        words: Spans in order; None for a word without characters, and so without tokens.
    """
    rows = [
        [word is not None and begin < end and word[0] < end <= word[1] for word in words]
        for begin, end in encoding.spans
    ]
    found = np.array(rows, dtype=bool).reshape(len(encoding), len(words))
    return np.asarray(found & (found.cumsum(axis=1) == 1))  # the first of words that share characters


def by_words(weights: npt.NDArray[np.floating], queries: BoolArray, keys: BoolArray) -> FloatArray:
    """Merge tokens to words: (..., Q, K) -> (..., query words, key words).

    Args:
        weights: Between the tokens of `queries` and `keys`.
        queries: (Q, query words).
        keys: (K, key words).

    Returns:
        Rows of a word without tokens are NaN; its columns are 0.
    """
    summed = weights.astype(np.float64) @ keys.astype(np.float64)  # (..., Q, key words)
    counts = queries.sum(axis=0).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(queries.T.astype(np.float64) @ summed / counts[:, None])
