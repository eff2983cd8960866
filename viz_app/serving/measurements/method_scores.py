"""What the methods of attribution are worth, as `python -m transformer_core derived --only methods` has measured it."""

from __future__ import annotations

from msgspec import Struct

from viz_app.serving.checked_json import Correlation, Count, Share


class MethodErrors(Struct, frozen=True):
    """How well each method links words, as `attribute` gives it.

    Args:
        aer: Alignment error rate, 0 to 1, by method.
        sentences: Sentences linked by hand.
    """

    aer: dict[str, Share]
    sentences: Count


class MethodAgreement(Struct, frozen=True):
    """How far each method agrees with leave-one-out.

    Args:
        tau: Kendall's tau-b over source words, -1 to 1, by method: mean over rows, then sentences.
        sentences: How many.
    """

    tau: dict[str, Correlation]
    sentences: Count
