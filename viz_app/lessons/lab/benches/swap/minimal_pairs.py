"""Minimal pairs: English sentences that differ in little, to which the shipped models give different outputs."""

from __future__ import annotations

from collections.abc import Mapping

TRANSLATED_PAIRS: dict[str, tuple[str, str]] = {
    "number": ("The dog is sleeping.", "The dogs are sleeping."),
    "gender": ("This is my brother.", "This is my sister."),
    "negation": ("He can swim.", "He cannot swim."),
    "verb": ("The boy is sitting on the grass.", "The boy is lying on the grass."),
    "tense": ("She has a dog.", "She had a dog."),
}
PARSED_PAIRS: dict[str, tuple[str, str]] = {
    "question": ("He is here.", "Is he here?"),
    "coordination": ("I saw the man with a dog.", "I saw the man and a dog."),
    "infinitive": ("I want a dog.", "I want to sleep."),
    "clause": ("She said her name.", "She said he came."),
    "relative": ("The man with dogs left.", "The man who waits left."),
}


def minimal_pairs(parses: bool, reads: str = "en") -> Mapping[str, tuple[str, str]]:
    """Return the pairs for a model, by name; for the shipped models both sentences have the same number of tokens.

    Args:
        parses: Whether it generates trees.
        reads: BCP 47 code of what it reads; empty where that is unknown. In other languages there are no pairs.
    """
    if reads.split("-")[0].lower() not in ("", "en"):
        return {}
    return PARSED_PAIRS if parses else TRANSLATED_PAIRS
