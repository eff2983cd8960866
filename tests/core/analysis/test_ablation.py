"""What heads do to a translation: without all of them, against a model whose attention says nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from transformer_core.analysis.ablation import Head, translate_without, word_diff
from transformer_core.attention_maps import KINDS
from transformer_core.hooks.points import edit
from transformer_core.translator import Translator

TEXT = "The dog is fast."


@pytest.fixture(scope="module")
def translator(random_checkpoint: Path) -> Translator:
    translator = Translator.load(random_checkpoint)
    translator.decoding = translator.decoding.replace(extra_length=4)  # random weights write to the limit
    return translator


def test_without_heads_the_sentence_is_translated_again(translator: Translator) -> None:
    original = translator.translate(TEXT, beam=4)
    every_head = [
        Head(kind, layer, head) for kind in KINDS for layer in range(2) for head in range(translator.config.num_heads)
    ]
    nothing = translate_without(translator, original, [], beam=4)
    assert nothing.text == original.text and nothing.before == nothing.log_probability
    every = translate_without(translator, original, every_head, beam=4)
    points = [f"decoder.layers.{layer}.cross_attention.head_outputs" for layer in range(2)]
    points += [f"{stack}.layers.{n}.self_attention.head_outputs" for stack in ("encoder", "decoder") for n in range(2)]
    with edit(translator.model, points, lambda value, _site: torch.zeros_like(value)):
        assert every.text == translator.translate(TEXT, beam=4).text
        assert every.log_probability == pytest.approx(translator.score([(TEXT, original.text)])[0])
    assert every.before == nothing.before


def test_words_that_differ_are_marked() -> None:
    before, after = word_diff(["der", "kleine", "Hund", "spielt"], ["der", "Hund", "spielt", "hier"])
    assert before == [("der", False), ("kleine", True), ("Hund", False), ("spielt", False)]
    assert after == [("der", False), ("Hund", False), ("spielt", False), ("hier", True)]
