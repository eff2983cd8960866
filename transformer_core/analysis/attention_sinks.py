"""Attention sinks: weight on `<s>`, `</s>` and punctuation, and how much a head's keys depend on the query.

A head without information about a position puts its weight on a separator (Clark et al. 2019), whose value adds little
(Kobayashi et al. 2020). These are measures of weights; `ablation` measures the effect on the output.

Shape legend: L layers, H heads, Q queries, K keys.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from transformer_core.attention_maps import AttentionMaps, Axis, Kind
from transformer_core.head import Head

SINK_SHARE = 0.5  # a head with a larger share of its weight on separators is at rest

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]


def separators(axis: Axis) -> BoolArray:
    """Return (n,), True where a position is `<s>`, `</s>` or punctuation."""
    plain = [not any(character.isalnum() for character in token) for token in axis.tokens]
    return np.asarray(np.array(axis.special, dtype=bool) | np.array(plain, dtype=bool))


def query_rows(maps: AttentionMaps, kind: Kind) -> npt.NDArray[np.int64]:
    """Return the positions of queries that are words, not separators."""
    return np.flatnonzero(~separators(maps.queries(kind)))


def sink_shares(maps: AttentionMaps, kind: Kind) -> FloatArray:
    """Return (L, H) shares of each head's weight on separators, the mean over queries that are words.

    0 where no query is a word.
    """
    rows = query_rows(maps, kind)
    if not len(rows):
        return np.zeros(maps.weights(kind).shape[:2])
    weights = maps.weights(kind)[:, :, rows].astype(np.float64)  # (L, H, rows, K)
    return np.asarray(weights[..., separators(maps.keys(kind))].sum(axis=3).mean(axis=2))


def information(maps: AttentionMaps, kind: Kind) -> FloatArray:
    """Return (L, H) normalised mutual information I(query; key) / log K, over queries that are words.

    0 for a head whose rows are all alike, such as an attention sink; 1 for a head with a different key for every query.
    In the decoder the information of uniform attention is subtracted, since the causal mask alone makes rows differ.
    """
    queries, keys, rows = maps.queries(kind), maps.keys(kind), query_rows(maps, kind)
    if not len(rows) or len(keys) < 2:
        return np.zeros(maps.weights(kind).shape[:2])
    nats = _mutual_information(maps.weights(kind)[:, :, rows].astype(np.float64))
    if kind == "decoder":
        uniform = np.tri(len(queries), len(keys))[rows]
        nats = nats - _mutual_information(uniform / uniform.sum(axis=1, keepdims=True))
    return np.asarray(nats / np.log(len(keys)))


def most_informative_head(maps: AttentionMaps, kind: Kind) -> Head:
    """Return the head with the most information; attention sinks only if all heads are."""
    values = information(maps, kind)
    looks = sink_shares(maps, kind) <= SINK_SHARE
    if looks.any():
        values = np.where(looks, values, -np.inf)
    return Head(kind, *divmod(int(values.argmax()), values.shape[1]))


def _mutual_information(weights: FloatArray) -> FloatArray:
    """Compute the mutual information of query and key in nats, queries equally likely: (..., Q, K) -> (...)."""
    return np.asarray(entropy(weights.mean(axis=-2)) - entropy(weights).mean(axis=-1))


def entropy(weights: FloatArray) -> FloatArray:
    """Compute the entropy of each row in nats: (..., K) -> (...)."""
    return np.asarray(-(weights * np.log(np.where(weights > 0, weights, 1.0))).sum(axis=-1))
