"""Which heads look at words, and which rest on `<s>`, `</s>` and punctuation.

A head that has nothing to say about a position puts its weight on a separator (Clark et al. 2019), whose value adds
little (Kobayashi et al. 2020). That is a statement on weights: what a head does to the output, `ablation` measures.

Shape legend: L layers, H heads, Q queries, K keys.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from transformer_core.attention_maps import AttentionMaps, Axis, Kind

RESTING_SHARE = 0.5  # share of its weight from which on a head rests

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]


def separators(axis: Axis) -> BoolArray:
    """(n,) which positions are `<s>`, `</s>` or punctuation."""
    plain = [not any(character.isalnum() for character in token) for token in axis.tokens]
    return np.asarray(np.array(axis.special, dtype=bool) | np.array(plain, dtype=bool))


def query_rows(maps: AttentionMaps, kind: Kind) -> npt.NDArray[np.int64]:
    """Positions of the queries that are words, and not separators."""
    return np.flatnonzero(~separators(maps.queries(kind)))


def resting_shares(maps: AttentionMaps, kind: Kind) -> FloatArray:
    """(L, H) share of each head's weight that is on separators: the mean over the queries that are none.

    0 where no query is a word.
    """
    rows = query_rows(maps, kind)
    if not len(rows):
        return np.zeros(maps.weights(kind).shape[:2])
    weights = maps.weights(kind)[:, :, rows].astype(np.float64)  # (L, H, rows, K)
    return np.asarray(weights[..., separators(maps.keys(kind))].sum(axis=3).mean(axis=2))


def information(maps: AttentionMaps, kind: Kind) -> FloatArray:
    """(L, H) how much the keys of each head depend on the query: I(query; key) / log K over queries that are words.

    0 for a head whose rows are all alike, such as one that rests; 1 for one that sends every query to a key of its own.
    Of the decoder, where a causal mask alone makes rows differ, that of uniform attention is subtracted.
    """
    queries, keys, rows = maps.queries(kind), maps.keys(kind), query_rows(maps, kind)
    if not len(rows) or len(keys) < 2:
        return np.zeros(maps.weights(kind).shape[:2])
    found = _mutual_information(maps.weights(kind)[:, :, rows].astype(np.float64))
    if kind == "decoder":
        uniform = np.tri(len(queries), len(keys))[rows]
        found = found - _mutual_information(uniform / uniform.sum(axis=1, keepdims=True))
    return np.asarray(found / np.log(len(keys)))


def most_informative_head(maps: AttentionMaps, kind: Kind) -> tuple[int, int]:
    """Layer and head, from 0, of the head with the most information among those that do not rest, else among all."""
    found = information(maps, kind)
    looks = resting_shares(maps, kind) <= RESTING_SHARE
    if looks.any():
        found = np.where(looks, found, -np.inf)
    layer, head = divmod(int(found.argmax()), found.shape[1])
    return layer, head


def _mutual_information(weights: FloatArray) -> FloatArray:
    """(..., Q, K) -> (...) in nats, all queries equally likely."""
    return np.asarray(entropy(weights.mean(axis=-2)) - entropy(weights).mean(axis=-1))


def entropy(weights: FloatArray) -> FloatArray:
    """(..., K) -> (...) in nats."""
    return np.asarray(-(weights * np.log(np.where(weights > 0, weights, 1.0))).sum(axis=-1))
