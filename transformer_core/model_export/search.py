"""Search options for other programs, which divide log-probabilities by a power of the length."""

from __future__ import annotations

from transformer_core.config import DecodingConfig

_TYPICAL_LENGTH = 20  # tokens of a translation, `</s>` included


def power(decoding: DecodingConfig) -> float:
    """Return the exponent of the length: the checkpoint's, or the nearest to ((5 + length) / 6) ** alpha.

    Nearest means that d log((5 + n) / 6) ** a = d log(n ** p) at a typical length n.
    """
    if decoding.length_penalty == "power":
        return decoding.alpha
    return round(decoding.alpha * _TYPICAL_LENGTH / (5 + _TYPICAL_LENGTH), 3)


def search_notes(decoding: DecodingConfig) -> list[str]:
    """Return notes on search options that no other program has."""
    note = "only trees over the words of a sentence are generated here; there, any sequence of tokens may be"
    return [note] if decoding.constrained else []


def penalty_notes(decoding: DecodingConfig) -> list[str]:
    """Return notes on the length penalty; empty if it is the same."""
    if decoding.length_penalty == "power" or not decoding.alpha or decoding.beam == 1:
        return []
    return [
        f"the length penalty ((5 + length) / 6) ** {decoding.alpha} has no counterpart; length ** {power(decoding)} is "
        f"nearest to it at {_TYPICAL_LENGTH} tokens, so some texts of a beam search differ"
    ]
