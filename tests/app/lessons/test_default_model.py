"""Labels and answers about the default model, whichever weights it has."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from transformer_core.storage.bundled_models import SHIPPED
from transformer_core.translator import Translator
from viz_app.lessons.heads.head_measures import ablate_each_head
from viz_app.text.examples import EXAMPLES, FIRST_EXAMPLE

# What the label of an example promises, of any right German translation.
PROMISED = {
    "word_order": r"^Der kleine Hund spielt ",
    "verb_end": r", dass er .*(liest|lese)\.$",
    "separable": r" (kommt|fährt) .*\b(an|ein)\.$",
    "compound": r"\b[A-Z][a-z]*tennis[a-z]+|\bTennis[a-z]+",
    "pronoun": r"\b(es|er|sie) schnell ist",
    "bracket": r"\bhaben\b.*gesehen\.$",
    "passive": r"^Das Haus wurde .*gebaut\.$",
    "relative": r"^Die Frau, die ",
    "negation": r"\bkein Auto\.$",
    "question": r"^Wo .*gekauft\?$",
    "preposition": r"\bauf den Bus\b",
    "adverb": r"\bschwimmt (sehr )?gerne? ",
}


@pytest.fixture(scope="module")
def german() -> Translator:
    return Translator.load(Path(SHIPPED) / "en-de")


def test_every_example_shows_what_its_label_says(german: Translator) -> None:
    assert PROMISED.keys() == EXAMPLES.keys()
    result = german.translate_batch(list(EXAMPLES.values()))
    texts = {name: each.text for name, each in zip(EXAMPLES, result, strict=True)}
    assert {name: text for name, text in texts.items() if not re.search(PROMISED[name], text)} == {}


def test_most_heads_can_go_without_a_word_changing(german: Translator) -> None:
    """The right answer of the last scene of "Head by head"."""
    others = [text for name, text in EXAMPLES.items() if name != FIRST_EXAMPLE][::3]
    shares = [ablate_each_head(german, text).same.mean() for text in (EXAMPLES[FIRST_EXAMPLE], *others)]
    assert shares[0] > 0.5
    assert np.mean([share > 0.5 for share in shares]) > 0.5
