"""Do the heads of a model look? Four measures of each head over sentence pairs, beside BLEU.

A model can translate well while most of its heads rest: whoever wants to see what heads do needs one whose heads look.

* information: how much the keys depend on the query, see `resting.information`; 0 for a stripe or an even row.
* resting: share of the weight on `<s>`, `</s>` and punctuation, see `resting.resting_shares`.
* fixed offset: the largest share of queries whose most attended key stands at one distance from them, -6 to 6. A head
  that always looks at the word before has much information, and yet does the same in every sentence.
* divergence: how much two heads of a layer differ, as the Jensen-Shannon divergence of their rows in nats.

Shape legend: L layers, H heads, Q queries, K keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from transformer_core.analysis.attention_sinks import RESTING_SHARE, entropy, information, query_rows, resting_shares
from transformer_core.attention_maps import KINDS, AttentionMaps, Kind

if TYPE_CHECKING:
    from transformer_core.translator import Translator

MIN_INFORMATION = 0.15  # from which on a head looks
FIXED_OFFSET_SHARE = 0.8  # share of its queries from which on a head looks at a fixed offset
# What a translator whose heads are to be looked at should have, as shares of its heads.
MIN_LOOKING = {"encoder and decoder": 0.5, "cross": 0.9}
MAX_AT_REST = 0.1  # of its self-attention heads
HEAD_PAIRS = 40  # sentence pairs of a set on which heads are scored, unless told otherwise
_FARTHEST = 6  # offset

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class HeadScores:
    """Of all heads of a kind, the mean over sentences.

    Args:
        information: (L, H) from 0 to 1; slightly below 0 is possible for heads of the decoder.
        resting: (L, H) from 0 to 1.
        fixed_offset: (L, H) from 0 to 1.
        divergence: (L, H, H) nats; 0 on the diagonal.
    """

    information: FloatArray
    resting: FloatArray
    fixed_offset: FloatArray
    divergence: FloatArray

    @property
    def looks(self) -> npt.NDArray[np.bool_]:
        """(L, H) whether a head looks."""
        return np.asarray(self.information > MIN_INFORMATION)

    @property
    def rests(self) -> npt.NDArray[np.bool_]:
        """(L, H) whether a head rests."""
        return np.asarray(self.resting > RESTING_SHARE)

    @property
    def is_fixed(self) -> npt.NDArray[np.bool_]:
        """(L, H) whether a head looks at a fixed offset."""
        return np.asarray(self.fixed_offset >= FIXED_OFFSET_SHARE)

    @property
    def median_divergence(self) -> float:
        """Of all pairs of heads that share a layer, in nats; NaN with a single head in a layer."""
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
    """Sums over sentences, of heads of one kind."""

    def __init__(self) -> None:
        self._sentences: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        self._offsets: list[FloatArray] = []

    def add(self, maps: AttentionMaps, kind: Kind) -> None:
        rows = query_rows(maps, kind)
        if not len(rows):
            return
        weights = maps.weights(kind)[:, :, rows].astype(np.float64)
        self._sentences.append((information(maps, kind), resting_shares(maps, kind), head_divergence(weights)))
        self._offsets.append(weights.argmax(axis=3) - rows)

    def scores(self) -> HeadScores:
        if not self._sentences:
            raise ValueError("there are no sentences to score the heads on")
        offsets = np.concatenate(self._offsets, axis=2)
        shares = [(offsets == offset).mean(axis=2) for offset in range(-_FARTHEST, _FARTHEST + 1)]
        found = [np.mean(each, axis=0) for each in zip(*self._sentences, strict=True)]
        return HeadScores(found[0], found[1], np.max(shares, axis=0), found[2])


def head_divergence(weights: FloatArray) -> FloatArray:
    """(L, H, Q, K) -> (L, H, H): Jensen-Shannon divergence of two heads of a layer in nats, the mean over queries."""
    between = entropy((weights[:, :, None] + weights[:, None]) / 2)  # (L, H, H, Q)
    own = entropy(weights)  # (L, H, Q)
    return np.asarray((between - (own[:, :, None] + own[:, None]) / 2).mean(axis=3))


def score_heads_of(translator: Translator, pairs: Iterable[tuple[str, str]]) -> dict[Kind, HeadScores]:
    """As `score_heads`, while a model reads given translations.

    Args:
        translator: The model.
        pairs: Sources and translations; one that is too long is left out.

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
    """What a log or a report tells of each kind: how many heads look, rest, have a fixed offset; by layer too."""
    return {kind: _counts(each) for kind, each in scores.items()}


def head_report(scores: Mapping[Kind, HeadScores]) -> dict[str, dict[str, Any]]:
    """What the metrics of a checkpoint hold of each kind: the counts, and the table of each measure, (L, H)."""
    return {
        kind: {
            **_counts(each),
            "information": _rounded(each.information),
            "resting_share": _rounded(each.resting),
            "fixed_offset_share": _rounded(each.fixed_offset),
        }
        for kind, each in scores.items()
    }


def shortcomings(report: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Why the heads of a model do not suffice to be looked at; empty when they do.

    Args:
        report: What `head_counts` or `head_report` returns.
    """
    found = []
    for name, least in MIN_LOOKING.items():
        kinds = name.split(" and ")
        looking, heads = (sum(report[kind][count] for kind in kinds) for count in ("looking", "heads"))
        if looking < least * heads:
            found.append(f"{looking} of {heads} {name} heads look, but {least:.0%} should")
    resting, heads = (sum(report[kind][count] for kind in ("encoder", "decoder")) for count in ("resting", "heads"))
    if resting > MAX_AT_REST * heads:
        found.append(f"{resting} of {heads} encoder and decoder heads rest, but at most {MAX_AT_REST:.0%} should")
    return found


def _counts(scores: HeadScores) -> dict[str, Any]:
    return {
        "heads": scores.information.size,
        "looking": int(scores.looks.sum()),
        "resting": int(scores.rests.sum()),
        "fixed_offset": int(scores.is_fixed.sum()),
        "median_divergence": _rounded(scores.median_divergence),
        "looking_by_layer": scores.looks.sum(axis=1).tolist(),
        "resting_by_layer": scores.rests.sum(axis=1).tolist(),
    }


def _rounded(value: float | FloatArray) -> Any:
    rounded = np.round(value, 4)
    return None if np.isnan(rounded).any() else rounded.tolist()
