"""The example sentences of the home page; their labels stand under the same names in `[examples]` and `[examples_fr]`.

The labels tell what a translation has to do, so they differ from language to language. A parser has its own sentences.
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
# For a parser: English sentences whose trees show something; their labels stand in `[examples_tree]`.
TREE_EXAMPLES: dict[str, str] = {
    "attachment": "I saw the man with the telescope.",
    "relative": "The woman who lives next door is a doctor.",
    "coordination": "Old men and women sat in the park.",
    "passive": "The house was built a hundred years ago.",
    "question": "Where did you buy this shirt?",
    "garden_path": "The old man the boats.",
    "clause": "She said that he would not come.",
    "long": (
        "The company, which was founded in a small garage, announced on Monday that it will sell its oldest factory "
        "because the new owners want to save money."
    ),
}
FIRST_EXAMPLE = "word_order"
