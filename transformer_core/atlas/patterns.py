"""Simple rules for the keys that a head attends to from each query.

Queries are words, not `<s>`, `</s>` or punctuation. Offsets count from the query: -1 is the token before. In
cross-attention the query is the generated token, at its own position.

Shape legend: Q queries, K keys.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from transformer_core.analysis.attention_sinks import query_rows, separators
from transformer_core.attention_maps import WORD_BOUNDARY, AttentionMaps, Axis, Kind

OFFSETS = tuple(range(-6, 7))  # the best one is the baseline of every other rule
NAMED_OFFSETS = {"offset-2": -2, "offset-1": -1, "offset0": 0, "offset+1": 1, "offset+2": 2}
_SELF = ("separator", "punctuation", "end", "start", "copy", "after-copy", "rarest")
PATTERNS: dict[Kind, tuple[str, ...]] = {
    "encoder": (*NAMED_OFFSETS, *_SELF),
    "decoder": ("offset-2", "offset-1", "offset0", "separator", "punctuation", "start", "copy", "after-copy", "rarest"),
    "cross": (*NAMED_OFFSETS, "separator", "punctuation", "end", "start", "copy", "rarest"),
}

BoolArray = npt.NDArray[np.bool_]


def word_key(text: str) -> str:
    """Return the form in which a word is counted."""
    return text.lower()


def pattern_keys(maps: AttentionMaps, kind: Kind, rarest: Collection[str]) -> dict[str, BoolArray]:
    """Return the keys of every rule.

    Args:
        maps: Maps of one sentence.
        kind: Kind of attention.
        rarest: The rarest words among the keys, as `word_key`; several if equally rare.

    Returns:
        (Q, K) for each name in `PATTERNS`; the rule does not apply to a row without any True.
    """
    queries, keys = maps.queries(kind), maps.keys(kind)
    shape = len(queries), len(keys)
    patterns = {
        name: np.eye(*shape, k=offset, dtype=bool) for name, offset in NAMED_OFFSETS.items() if name in PATTERNS[kind]
    }
    special = np.array(keys.special, dtype=bool)
    ends = np.array([each and number > 0 for number, each in enumerate(keys.special)])
    first = np.zeros(len(keys), dtype=bool)
    first[0] = True
    of_rarest = np.array([word_key(keys.word_texts[word]) in rarest for word in keys.words]) & ~special
    same = _equal(queries, keys)
    if kind != "cross":
        np.fill_diagonal(same, False)
    # The token after an earlier copy, which is before the query.
    after = np.zeros(shape, dtype=bool)
    if kind != "cross":
        after[:, 1:] = np.tril(same, k=-1)[:, :-1]
    patterns |= {
        "separator": np.broadcast_to(separators(keys), shape).copy(),
        "punctuation": np.broadcast_to(separators(keys) & ~special, shape).copy(),
        "end": np.broadcast_to(ends, shape).copy(),
        "start": np.broadcast_to(first, shape).copy(),
        "copy": same,
        "after-copy": after,
        "rarest": np.broadcast_to(of_rarest, shape).copy(),
    }
    if kind == "decoder":
        for allowed in patterns.values():
            allowed &= np.tri(*shape, dtype=bool)
    words = query_rows(maps, kind)
    rows = np.zeros(len(queries), dtype=bool)
    rows[words] = True
    for allowed in patterns.values():
        allowed[~rows] = False
    return {name: patterns[name] for name in PATTERNS[kind]}


def _equal(queries: Axis, keys: Axis) -> BoolArray:
    """Return (Q, K), True for equal tokens; word boundaries do not count, and special tokens equal none."""
    ours, theirs = (
        np.array([token.replace(WORD_BOUNDARY, "").lower() for token in axis.tokens]) for axis in (queries, keys)
    )
    plain = ~np.array(queries.special)[:, None] & ~np.array(keys.special)
    return np.asarray((ours[:, None] == theirs) & plain & (ours != "")[:, None])
