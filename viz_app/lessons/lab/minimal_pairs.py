"""English sentences that differ in little and have as many tokens; the shipped models translate them differently."""

from __future__ import annotations

MINIMAL_PAIRS: dict[str, tuple[str, str]] = {
    "number": ("The dog is sleeping.", "The dogs are sleeping."),
    "gender": ("This is my brother.", "This is my sister."),
    "negation": ("He can swim.", "He cannot swim."),
    "verb": ("The boy is sitting on the grass.", "The boy is lying on the grass."),
    "tense": ("She has a dog.", "She had a dog."),
}
