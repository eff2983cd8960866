"""Translations without heads, against a model whose attention says nothing; activations against torch.nn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.core.tiny import tiny_model
from tests.core.torch_twins import module_values
from transformer_core import Translator, edit
from transformer_core.analysis.ablation import Head, translate_without, word_diff
from transformer_core.analysis.activations import SUBLAYERS, record_activations
from transformer_core.attention_maps import KINDS

TEXT = "The dog is fast."


@pytest.fixture(scope="module")
def translator(random_checkpoint: Path) -> Translator:
    translator = Translator.load(random_checkpoint)
    translator.decoding = translator.decoding.replace(extra_length=4)  # random weights write to the limit
    return translator


def test_without_heads_the_sentence_is_translated_again(translator: Translator) -> None:
    original = translator.translate(TEXT, beam=4)
    every_head = [Head(kind, layer, head) for kind in KINDS for layer in range(2) for head in range(4)]
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


SOURCE, INPUTS = torch.tensor([[5, 9, 11, 7, 2]]), torch.tensor([[1, 8, 6]])


@pytest.mark.parametrize(
    "options",
    [{}, {"norm": "pre"}, {"attention": "additive"}, {"window": 2}, {"positions": "learned", "max_positions": 9}],
)
def test_every_activation_is_what_its_module_gives(options: dict[str, Any]) -> None:
    model = tiny_model(**options)
    with torch.no_grad(), module_values(model) as seen:
        logits = model(SOURCE, INPUTS, torch.ones(1, 1, 1, SOURCE.shape[1], dtype=torch.bool))
    result, config = record_activations(model, SOURCE, INPUTS), model.config
    assert len(result) == 2 * 2 + config.num_layers * 2 * (2 + 3) + 1
    for each in result:
        if each.sublayer is None:
            continue
        address = f"{each.side}.layers.{each.layer}.{each.sublayer}"
        name = f"{address}_add_norm" if each.name == "add_norm" else address
        torch.testing.assert_close(each.values, seen[f"{name} out"][0], rtol=1e-5, atol=1e-6)
        if each.hidden is not None:
            assert each.hidden.shape == (len(each.values), config.d_ff)
    torch.testing.assert_close(result[0].values, model.embedding.weight[SOURCE[0]] * config.d_model**0.5)
    torch.testing.assert_close(result[-1].values, logits[0], rtol=1e-5, atol=1e-6)
    sides = [side for side in SUBLAYERS for each in result if each.side == side]
    assert [each.side for each in result] == sides, "the encoder first"


def test_one_sentence_at_a_time() -> None:
    with pytest.raises(ValueError, match="must be one sentence"):
        record_activations(tiny_model(), SOURCE.expand(2, -1), INPUTS)
