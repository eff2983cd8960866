"""Measures of heads, computed with numpy, which the explorer computes in JavaScript."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from transformer_core.attention_maps import AttentionMaps, Axis, Kind

Numbers = npt.NDArray[np.float64]


def entropy(weights: Numbers) -> Numbers:
    """(layers, heads) in nats."""
    logarithms = np.log(weights, where=weights > 0, out=np.zeros_like(weights))
    result: Numbers = -(weights * logarithms).sum(axis=-1).mean(axis=-1)
    return result


def distance(weights: Numbers) -> Numbers:
    """(layers, heads) in tokens from the diagonal, which leads from corner to corner."""
    queries, keys = weights.shape[-2:]
    away = np.abs(np.arange(keys)[None, :] - np.linspace(0, keys - 1, queries)[:, None])
    result: Numbers = (weights * away).sum(axis=-1).mean(axis=-1)
    return result


def aligned(before: Axis, after: Axis) -> list[tuple[int, int]]:
    """A longest common subsequence, by plain recursion over what is left of both."""
    known: dict[tuple[int, int], list[tuple[int, int]]] = {}

    def rest(i: int, j: int) -> list[tuple[int, int]]:
        if i == len(before) or j == len(after):
            return []
        if (i, j) not in known:
            if before.tokens[i] == after.tokens[j]:
                known[i, j] = [(i, j), *rest(i + 1, j + 1)]
            else:
                known[i, j] = max(rest(i + 1, j), rest(i, j + 1), key=len)
        return known[i, j]

    return rest(0, 0)


def change(before: AttentionMaps, after: AttentionMaps, kind: Kind) -> Numbers:
    """(layers, heads): total variation over aligned keys and the stretches between them, mean over aligned rows."""
    rows = aligned(before.queries(kind), after.queries(kind))
    keys = aligned(before.keys(kind), after.keys(kind))
    cuts = [(-1, -1), *keys, (len(before.keys(kind)), len(after.keys(kind)))]
    result = np.zeros(after.weights(kind).shape[:2])
    for old, new in rows:
        p, q = before.weights(kind)[..., old, :].astype(float), after.weights(kind)[..., new, :].astype(float)
        for (a, b), (c, d) in itertools.pairwise(cuts):
            result += np.abs(p[..., a + 1 : c].sum(-1) - q[..., b + 1 : d].sum(-1))
            if (c, d) != cuts[-1]:
                result += np.abs(p[..., c] - q[..., d])
    return result / 2 / len(rows)


def clearly_changed(changes: Numbers) -> npt.NDArray[np.bool_]:
    """(layers, heads): farther above the median than three times the median distance from it."""
    middle = np.median(changes)
    result: npt.NDArray[np.bool_] = changes > max(0.05, middle + 3 * np.median(np.abs(changes - middle)))
    return result
