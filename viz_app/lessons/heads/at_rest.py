"""Resting heads: the recorded training of a model whose heads came to rest, snapshot by snapshot.

Shape legend: M snapshots, L layers, H heads, Q queries, K keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from transformer_core.analysis.attention_sinks import SINK_SHARE
from transformer_core.attention_maps import KINDS, Kind
from transformer_core.storage.files import CheckpointError
from viz_app.lessons.small_models import AT_REST, HISTORIES

if TYPE_CHECKING:
    from transformer_core.history.snapshots import History

SENTENCE = 1  # of the history that is shown, from 0; the counts are over all of them
SELF: tuple[Kind, ...] = ("encoder", "decoder")  # in self-attention nearly all heads came to rest

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HeadsAtRest:
    """Training history with the resting and attending heads of each snapshot.

    Args:
        history: The history.
        resting: By kind (M, L, H), share of the weight on separators: the mean over sentences.
        information: By kind (M, L, H), how much the keys depend on the query: the mean over sentences.
        at_rest: By kind (M,) heads with more than half of their weight there.
        looking: By kind (M,) heads whose keys depend on the query.
    """

    history: History
    resting: dict[Kind, FloatArray]
    information: dict[Kind, FloatArray]
    at_rest: dict[Kind, list[int]]
    looking: dict[Kind, list[int]]

    @property
    def bleu(self) -> list[float]:
        """(M,) BLEU of greedy translations; empty where it was not measured."""
        return list(self.history.validation["bleu"]) if self.history.validation else []

    @property
    def turned(self) -> int:
        """Self-attention head at rest that has lost most of its information.

        Counted through all heads, the encoder's first.
        """
        lost = [
            np.where(self.resting[kind][-1] > SINK_SHARE, information.max(axis=0) - information[-1], -np.inf).ravel()
            for kind in SELF
            for information in (self.information[kind],)
        ]
        return int(np.concatenate(lost).argmax())

    def of_self_attention(self, counts: dict[Kind, list[int]]) -> list[int]:
        """(M,) number of heads in both stacks."""
        return [sum(numbers) for numbers in zip(*(counts[kind] for kind in SELF), strict=True)]


@st.cache_resource(show_spinner=False)
def _measured(folder: str) -> HeadsAtRest:
    from transformer_core.analysis.head_scores import score_heads
    from transformer_core.history.snapshots import History

    history = History.load(Path(folder))
    scores = [
        score_heads(sentence.maps(snapshot) for sentence in history.sentences) for snapshot in range(len(history.steps))
    ]
    return HeadsAtRest(
        history,
        {kind: np.stack([each[kind].sink_share for each in scores]) for kind in KINDS},
        {kind: np.stack([each[kind].information for each in scores]) for kind in KINDS},
        {kind: [int(each[kind].is_sink.sum()) for each in scores] for kind in KINDS},
        {kind: [int(each[kind].looks.sum()) for each in scores] for kind in KINDS},
    )


def heads_at_rest() -> HeadsAtRest | None:
    """Measure the history once for all sessions; None while it is missing or damaged."""
    try:
        heads: HeadsAtRest = _measured(str(HISTORIES / AT_REST))
    except CheckpointError:
        return None
    return heads


def rest_values() -> tuple[dict[str, Any] | None, dict[str, npt.NDArray[Any]]]:
    """Return values and arrays for the stage."""
    heads = heads_at_rest()
    if heads is None:
        return None, {}
    sentence = heads.history.sentences[SENTENCE]
    values = {
        "steps": list(heads.history.steps),
        "bleu": heads.bleu,
        "resting": heads.of_self_attention(heads.at_rest),
        "looking": heads.of_self_attention(heads.looking),
        "turned": heads.turned,
        "sink_share": SINK_SHARE,
        "axes": {name: list(axis.tokens) for name, axis in sentence.axes.items()},
    }
    arrays = {f"rest_{kind}": sentence.weights[kind] for kind in KINDS}
    shares = {f"resting_{kind}": heads.resting[kind].astype(np.float32) for kind in KINDS}
    return values, {**arrays, **shares}
