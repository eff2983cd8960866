"""Largest weights of heads beside the loss of the translation without each: a weight is no cause.

Shape legend: N heads, in the order of `ablation.all_heads`; K keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from transformer_core.analysis.attention_sinks import separators
from transformer_core.attention_maps import KINDS, AttentionMaps

if TYPE_CHECKING:
    from viz_app.lessons.heads.head_measures import SingleHeadAblations

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int32]

MUCH = 0.8  # weight from which on a head looks hard at a word


@dataclass(frozen=True, eq=False)
class StrongestWeights:
    """Query and key of the largest weight between two different words, for each head.

    Args:
        weights: (N,) that weight; 0 where a sentence has no such pair.
        queries: (N,) position of the query.
        keys: (N,) position of the key.
        rows: (N, K) all weights of that query, 0 after the keys of its kind.
    """

    weights: FloatArray
    queries: IntArray
    keys: IntArray
    rows: FloatArray


def strongest_weights(maps: AttentionMaps) -> StrongestWeights:
    """Find the largest weight of each head, without separators and without a word on itself."""
    longest = max(len(maps.keys(kind)) for kind in KINDS)
    cells: list[tuple[float, int, int]] = []
    rows: list[FloatArray] = []
    for kind in KINDS:
        weights = maps.weights(kind)  # (L, H, Q, K)
        counted = ~separators(maps.queries(kind))[:, None] & ~separators(maps.keys(kind))[None, :]
        if kind != "cross":
            np.fill_diagonal(counted, val=False)
        for head in weights.reshape(-1, *weights.shape[2:]):
            query, key = np.unravel_index(int(np.where(counted, head, 0.0).argmax()), head.shape)
            cells.append((float(head[query, key]) if counted[query, key] else 0.0, int(query), int(key)))
            rows.append(np.pad(head[query], (0, longest - head.shape[1])).astype(np.float32))
    values, queries, keys = zip(*cells, strict=True)
    return StrongestWeights(
        np.array(values, np.float32), np.array(queries, np.int32), np.array(keys, np.int32), np.stack(rows)
    )


def dispensable_head(strongest: StrongestWeights, alone: SingleHeadAblations) -> int:
    """Find a head with a large weight on a word whose removal leaves the translation unchanged.

    Where no such head gives a word `MUCH` weight, the one that gives most; where every head matters, the one that
    matters least.
    """
    candidates = np.flatnonzero(alone.same)
    if not len(candidates):
        return int(np.abs(alone.changes).argmin())
    hard = candidates[strongest.weights[candidates] >= MUCH]
    if not len(hard):
        return int(candidates[strongest.weights[candidates].argmax()])
    return int(hard[np.abs(alone.changes[hard]).argmin()])


def rank_correlation(first: npt.NDArray[np.floating], second: npt.NDArray[np.floating]) -> float:
    """Compute Spearman's rank correlation; 0 where one of both is constant."""
    ranks = [_ranks(values) for values in (first, second)]
    centred = [values - values.mean() for values in ranks]
    norm = float(np.sqrt((centred[0] ** 2).sum() * (centred[1] ** 2).sum()))
    return float((centred[0] * centred[1]).sum()) / norm if norm else 0.0


def _ranks(values: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Return ranks; ties share their mean."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    mean: npt.NDArray[np.float64] = (last - counts + last + 1) / 2
    return np.asarray(mean[inverse])
