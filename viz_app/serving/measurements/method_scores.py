"""Scores of the attribution methods, from `python -m transformer_core derived --only methods`."""

from __future__ import annotations

from msgspec import Struct

from viz_app.serving.checked_json import Correlation, Count, Share


class MethodErrors(Struct, frozen=True):
    """Alignment errors of each method, as `attribute` measures them.

    Args:
        aer: Alignment error rate, 0 to 1, by method.
        sentences: Number of hand-linked sentences.
    """

    aer: dict[str, Share]
    sentences: Count


class MethodAgreement(Struct, frozen=True):
    """Agreement of each method with leave-one-out.

    Args:
        tau: Kendall's tau-b over source words, -1 to 1, by method: mean over rows, then sentences.
        sentences: Number of sentences.
    """

    tau: dict[str, Correlation]
    sentences: Count
