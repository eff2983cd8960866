"""The example sentences of the home page; their labels stand under the same names in `[examples]` and `[examples_fr]`.

The labels tell what a translation has to do, so they differ from language to language.
"""

from __future__ import annotations

# Everyday English, each sentence for one thing that German, and mostly French as well, does differently.
EXAMPLES: dict[str, str] = {
    "word_order": "The little dog is playing in the garden.",
    "verb_end": "I know that he is reading a book.",
    "separable": "The train arrives at eight o'clock.",
    "compound": "He bought a new tennis racket.",
    "pronoun": "I like this car because it is fast.",
    "bracket": "We have not seen our friends since last summer.",
    "passive": "The house was built a hundred years ago.",
    "relative": "The woman who lives next door is a doctor.",
    "negation": "I do not have a car.",
    "question": "Where did you buy this shirt?",
    "preposition": "She is waiting for the bus.",
    "adverb": "He likes to swim in the lake.",
}
FIRST_EXAMPLE = "word_order"
