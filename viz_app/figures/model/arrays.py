"""Attention of any other model: a user's own arrays with their tokens, for the same figures.

maps = own_maps(weights, query_tokens, key_tokens)   # (layers, heads, queries, keys)
figure = one_head(Request(maps=maps, kind="own", layer=0, head=3))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from transformer_core.attention_maps import AttentionMaps, Axis, FloatArray
from transformer_core.foreign_attention import MAX_LABEL, check_rows, is_special, to_numbers
from viz_app.figures.options import AnyKind

OWN: Literal["own"] = "own"
MAX_VALUES = 2**25  # of own maps, 128 MiB


class Maps(Protocol):
    """Interface of maps for builders and captions; AttentionMaps and OwnMaps have it."""

    @property
    def inputs(self) -> Axis:
        """Input tokens of the decoder."""

    @property
    def outputs(self) -> Axis:
        """Output tokens of the decoder."""

    def layers(self, kind: Any) -> int:
        """Layers with this kind of attention."""

    def heads(self, kind: Any) -> int:
        """Heads of each attention of this kind."""

    def weights(self, kind: Any) -> FloatArray:
        """(L, H, Q, K) weights of one kind of attention."""

    def queries(self, kind: Any) -> Axis:
        """Labels of the rows."""

    def keys(self, kind: Any) -> Axis:
        """Labels of the columns."""

    def merged_to_words(self) -> Maps:
        """Return the tokens of each word merged."""


@dataclass(frozen=True)
class OwnMaps:
    """Own arrays; `own_maps` checks and makes them. Their one kind is "own".

    Args:
        array: (L, H, Q, K) float32, rows sum to 1.
        query_axis: Labels of the Q rows.
        key_axis: Labels of the K columns.
        signed: Whether these are numbers of both signs, False for numbers of one, None for attention weights.
        scale_title: What numbers are; empty for "value".
    """

    array: FloatArray
    query_axis: Axis
    key_axis: Axis
    signed: bool | None = None
    scale_title: str = ""

    @property
    def inputs(self) -> Axis:
        """Rows; own arrays do not distinguish input and output tokens."""
        return self.query_axis

    @property
    def outputs(self) -> Axis:
        """The rows."""
        return self.query_axis

    def layers(self, kind: AnyKind = OWN) -> int:
        """Layers."""
        return int(self.weights(kind).shape[0])

    def heads(self, kind: AnyKind = OWN) -> int:
        """Heads of each layer."""
        return int(self.weights(kind).shape[1])

    def weights(self, kind: AnyKind = OWN) -> FloatArray:
        """(L, H, Q, K) weights. Raises ValueError for another kind than "own"."""
        if kind != OWN:
            raise ValueError(f"attention kind is {kind!r}, but own arrays have only {OWN!r}")
        return self.array

    def queries(self, kind: AnyKind = OWN) -> Axis:
        """Labels of the rows."""
        self.weights(kind)
        return self.query_axis

    def keys(self, kind: AnyKind = OWN) -> Axis:
        """Labels of the columns."""
        self.weights(kind)
        return self.key_axis

    def merged_to_words(self) -> OwnMaps:
        """Tokens merged to words, as AttentionMaps does it: summed over keys, averaged over queries.

        Raises:
            ValueError: These are no attention weights.
        """
        if self.signed is not None:
            raise ValueError("unit is 'words', but only attention weights can be merged to words")
        merged = _as_cross(self.array, self.query_axis, self.key_axis).merged_to_words()
        return OwnMaps(merged.cross, merged.outputs, merged.source)


def own_maps(
    weights: npt.ArrayLike,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    query_words: Sequence[int] | None = None,
    key_words: Sequence[int] | None = None,
    signed: bool | None = None,
    scale_title: str = "",
) -> OwnMaps:
    """Check a user's own attention, or numbers of the shape of attention, and label it.

    Args:
        weights: (layers, heads, queries, keys) attention after the softmax; numpy, or what numpy can read, such as a
            torch tensor on the CPU.
        query_tokens: A token for each row.
        key_tokens: A token for each column.
        query_words: Number of the word that each row belongs to, from 0, for figures by words; None when tokens are
            words.
        key_words: The same for the columns.
        signed: None for attention weights. True for numbers of both signs, such as effects: 0 is then the middle of
            the colours. False for other numbers. NaN is a missing number.
        scale_title: What the numbers are, beside the key of the colours.

    Raises:
        ValueError: One line that says what is wrong and what is allowed.
    """
    array = real_numbers("weights", weights, MAX_VALUES)
    if array.ndim != 4 or 0 in array.shape:
        raise ValueError(
            f"weights have shape {array.shape}, but must be (layers, heads, queries, keys) with at least one of each"
        )
    axes = []
    for name, tokens, words, count in (
        ("query", query_tokens, query_words, array.shape[2]),
        ("key", key_tokens, key_words, array.shape[3]),
    ):
        if isinstance(tokens, str):
            raise ValueError(f"{name}_tokens is one text, but must be a list with a token for each position")
        if len(tokens) != count:
            rows = "queries" if name == "query" else "keys"
            raise ValueError(f"{name}_tokens has {len(tokens)} tokens, but the weights have {count} {rows}")
        if wrong := [token for token in tokens if not isinstance(token, str)]:
            raise ValueError(f"{name}_tokens holds {wrong[0]!r}, but must hold texts only")
        check_lengths(f"{name}_tokens", tokens)
        numbers = tuple(range(count)) if words is None else tuple(int(word) for word in words)
        axes.append(Axis(tuple(tokens), numbers, tuple(map(is_special, tokens))))
    if signed is None:
        check_rows(array)
    elif np.isinf(array).any():
        layer, head, row, _ = (int(i) for i in np.argwhere(np.isinf(array))[0])
        raise ValueError(f"layer {layer}, head {head}, query {row} (counted from 0) holds an infinite number")
    array.setflags(write=False)
    queries, keys = axes
    return OwnMaps(array, queries, keys, signed=signed, scale_title=scale_title)


def real_numbers(name: str, values: npt.ArrayLike, most: int) -> FloatArray:
    """Copy numbers to float32. Raises ValueError for other things, and for more numbers than `most`."""
    if (size := math.prod(np.shape(values))) > most:
        raise ValueError(f"{name} are {size:,} numbers, but at most {most:,} are allowed")
    return to_numbers(values, name)


def check_lengths(name: str, labels: Sequence[str]) -> None:
    """Raise ValueError when a label is too long."""
    longest = max(map(len, labels), default=0)
    if longest > MAX_LABEL:
        raise ValueError(f"{name} holds a label of {longest:,} characters, but at most {MAX_LABEL:,} are allowed")


def _as_cross(array: FloatArray, queries: Axis, keys: Axis) -> AttentionMaps:
    """Return the arrays as encoder-decoder attention, to borrow its merging; the other kinds are not read."""
    rows, columns = (np.zeros((1, 1, len(axis), len(axis)), dtype=np.float32) for axis in (queries, keys))
    return AttentionMaps(encoder=columns, decoder=rows, cross=array, source=keys, inputs=queries, outputs=queries)
