"""Four measures of each head over sentence pairs.

A model can translate well with most heads at rest. To study heads, one needs a model whose heads look at words.

* information: dependence of the keys on the query, see `attention_sinks.information`; 0 for equal rows.
* sink share: share of the weight on `<s>`, `</s>` and punctuation, see `attention_sinks.sink_shares`.
* fixed offset: the largest share of queries whose most attended key has one distance from them, -6 to 6. A head that
  always looks at the word before has much information, but does the same in every sentence.
* divergence: Jensen-Shannon divergence of the rows of two heads of a layer, in nats.

Shape legend: L layers, H heads, Q queries, K keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from transformer_core.analysis.attention_sinks import SINK_SHARE, entropy, information, query_rows, sink_shares
from transformer_core.attention_maps import KINDS, AttentionMaps, Kind
from transformer_core.data import DataError

if TYPE_CHECKING:
    from transformer_core.translator import Translator

MIN_INFORMATION = 0.15  # a head with more looks at words
FIXED_OFFSET_SHARE = 0.8  # of its queries, at a head with a fixed offset
# Warnings, as shares of heads.
MIN_LOOKING = {"encoder and decoder": 0.5, "cross": 0.9}
MAX_SINKS = 0.1  # of the self-attention heads
HEAD_PAIRS = 40  # default number of sentence pairs
_MAX_OFFSET = 6

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class HeadScores:
    """Scores of all heads of a kind, the mean over sentences.

    Args:
        information: (L, H) from 0 to 1; heads of the decoder may be slightly below 0.
        sink_share: (L, H) from 0 to 1.
        fixed_offset: (L, H) from 0 to 1.
        divergence: (L, H, H) nats; 0 on the diagonal.
    """

    information: FloatArray
    sink_share: FloatArray
    fixed_offset: FloatArray
    divergence: FloatArray

    @property
    def looks(self) -> npt.NDArray[np.bool_]:
        """(L, H) whether a head looks at words."""
        return np.asarray(self.information > MIN_INFORMATION)

    @property
    def is_sink(self) -> npt.NDArray[np.bool_]:
        """(L, H) whether a head is at rest on an attention sink."""
        return np.asarray(self.sink_share > SINK_SHARE)

    @property
    def is_fixed(self) -> npt.NDArray[np.bool_]:
        """(L, H) whether a head looks at a fixed offset."""
        return np.asarray(self.fixed_offset >= FIXED_OFFSET_SHARE)

    @property
    def median_divergence(self) -> float:
        """Median over all pairs of heads of a layer, in nats; NaN with a single head in a layer."""
        pairs = self.divergence[:, *np.triu_indices(self.divergence.shape[1], 1)]
        return float(np.median(pairs)) if pairs.size else float("nan")


def score_heads(maps: Iterable[AttentionMaps]) -> dict[Kind, HeadScores]:
    """Measure all heads of a model over the maps of its sentences.

    Raises:
        ValueError: There is no sentence.
    """
    totals: dict[Kind, _Totals] = {kind: _Totals() for kind in KINDS}
    for each in maps:
        for kind, total in totals.items():
            total.add(each, kind)
    return {kind: total.scores() for kind, total in totals.items()}


class _Totals:
    """Sums over sentences for heads of one kind."""

    def __init__(self) -> None:
        self._sentences: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        self._offsets: list[FloatArray] = []

    def add(self, maps: AttentionMaps, kind: Kind) -> None:
        rows = query_rows(maps, kind)
        if not len(rows):
            return
        weights = maps.weights(kind)[:, :, rows].astype(np.float64)
        self._sentences.append((information(maps, kind), sink_shares(maps, kind), head_divergence(weights)))
        self._offsets.append(weights.argmax(axis=3) - rows)

    def scores(self) -> HeadScores:
        if not self._sentences:
            raise DataError("there are no sentences to score the heads on")
        offsets = np.concatenate(self._offsets, axis=2)
        shares = [(offsets == offset).mean(axis=2) for offset in range(-_MAX_OFFSET, _MAX_OFFSET + 1)]
        means = [np.mean(each, axis=0) for each in zip(*self._sentences, strict=True)]
        return HeadScores(means[0], means[1], np.max(shares, axis=0), means[2])


def head_divergence(weights: FloatArray) -> FloatArray:
    """Compute the Jensen-Shannon divergence of heads in nats, the mean over queries: (L, H, Q, K) -> (L, H, H)."""
    between = entropy((weights[:, :, None] + weights[:, None]) / 2)  # (L, H, H, Q)
    entropies = entropy(weights)  # (L, H, Q)
    return np.asarray((between - (entropies[:, :, None] + entropies[:, None]) / 2).mean(axis=3))


def score_heads_of(translator: Translator, pairs: Iterable[tuple[str, str]]) -> dict[Kind, HeadScores]:
    """Score the heads of a model on given translations; see `score_heads`.

    Args:
        translator: The model.
        pairs: Sources and translations; those that are too long are skipped.

    Raises:
        ValueError: There is no sentence.
    """
    from transformer_core.translator import SourceTooLong

    def maps() -> Iterable[AttentionMaps]:
        for source, target in pairs:
            try:
                yield translator.teacher_force(source, target).attention
            except SourceTooLong:
                continue

    return score_heads(maps())


def head_counts(scores: Mapping[Kind, HeadScores]) -> dict[str, dict[str, Any]]:
    """Count the heads of each kind that look, rest, or have a fixed offset, in all and by layer."""
    return {kind: _counts(each) for kind, each in scores.items()}


def head_report(scores: Mapping[Kind, HeadScores]) -> dict[str, dict[str, Any]]:
    """Return the entries of a checkpoint's metrics: for each kind counts, and an (L, H) table of each measure."""
    return {
        kind: {
            **_counts(each),
            "information": _rounded(each.information),
            "resting_share": _rounded(each.sink_share),
            "fixed_offset_share": _rounded(each.fixed_offset),
        }
        for kind, each in scores.items()
    }


def shortcomings(report: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """List the reasons why a model has too few heads to study.

    Args:
        report: Result of `head_counts` or `head_report`.
    """
    reasons = []
    for name, share in MIN_LOOKING.items():
        kinds = name.split(" and ")
        looking, heads = (sum(report[kind][count] for kind in kinds) for count in ("looking", "heads"))
        if looking < share * heads:
            reasons.append(f"{looking} of {heads} {name} heads look, but {share:.0%} should")
    resting, heads = (sum(report[kind][count] for kind in ("encoder", "decoder")) for count in ("resting", "heads"))
    if resting > MAX_SINKS * heads:
        reasons.append(f"{resting} of {heads} encoder and decoder heads rest, but at most {MAX_SINKS:.0%} should")
    return reasons


def _counts(scores: HeadScores) -> dict[str, Any]:
    return {
        "heads": scores.information.size,
        "looking": int(scores.looks.sum()),
        "resting": int(scores.is_sink.sum()),
        "fixed_offset": int(scores.is_fixed.sum()),
        "median_divergence": _rounded(scores.median_divergence),
        "looking_by_layer": scores.looks.sum(axis=1).tolist(),
        "resting_by_layer": scores.is_sink.sum(axis=1).tolist(),
    }


def _rounded(value: float | FloatArray) -> Any:
    rounded = np.round(value, 4)
    return None if np.isnan(rounded).any() else rounded.tolist()
