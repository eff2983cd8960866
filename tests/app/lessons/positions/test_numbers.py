"""The lesson on positions: the formula in JavaScript, the linear map, what the order of words does to an encoder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.app.lessons.conftest import Visit
from transformer_core.config import ModelConfig
from transformer_core.model.positions import sinusoidal_positions
from transformer_core.model.transformer import Transformer
from transformer_core.parsing.sequences import to_tree
from transformer_core.translator import Translator
from viz_app.lessons.positions.numbers import compare_position_tables, data
from viz_app.lessons.word_order import (
    default_swap,
    measure_change,
    swapped_order,
    token_order,
    translate_rows,
    words_of,
)

TEXT = "The little dog is playing in the garden."
TOKENS = ("\u2581The", "\u2581ra", "ck", "et", "\u2581is", "\u2581new", ".")


def test_the_stage_evaluates_the_formula_of_the_core(javascript: Callable[[str], Any]) -> None:
    script = """import { block, dotProduct, encoding, mapError, pairs } from "./lessons/positions/js/encoding.js";
    const values = Array.from({ length: 100 }, (_, i) => encoding(3 * i, (37 * i) % 128, 128));
    const products = [0, 1, 5, 20].map((k) => dotProduct(11, 11 + k, 128));
    console.log(JSON.stringify([values, products, mapError(9, 4, 128), block(4, 6, 128), pairs(128)]));"""
    values, products, error, block, pairs = javascript(script)
    table = sinusoidal_positions(300, 128).double().numpy()
    i = np.arange(100)
    np.testing.assert_allclose(values, table[3 * i, (37 * i) % 128], atol=1e-6)
    np.testing.assert_allclose(products, table[[11, 12, 16, 31]] @ table[11], atol=1e-5)
    assert error < 1e-12
    # M_4 turns the pair of columns 12 and 13 by 4 of its radians.
    turned = 4 * 10_000 ** (-12 / 128)
    rotation = [[np.cos(turned), np.sin(turned)], [-np.sin(turned), np.cos(turned)]]
    np.testing.assert_allclose(block, rotation, atol=1e-12)
    np.testing.assert_allclose(rotation @ table[9, 12:14], table[13, 12:14], atol=1e-6)
    assert len(pairs) == 6 and pairs[0] == 0 and pairs[-1] == 63 and pairs == sorted(pairs)


def test_words_are_found_and_change_places_with_all_their_tokens() -> None:
    words = words_of(TOKENS)
    assert [word.text for word in words] == ["The", "racket", "is", "new", ".", "</s>"]
    assert [word.plain for word in words] == [True, True, True, True, False, False]
    assert default_swap(words[:4]) == (1, 3)
    order = swapped_order(len(words), 1, 3)
    assert token_order(words, order).tolist() == [0, 5, 4, 1, 2, 3, 6, 7]
    assert default_swap(words_of(("\u2581Big", "\u2581dogs"))[:2]) == (0, 1)


def test_without_positions_a_token_keeps_its_vector_wherever_it_stands(translator: Translator) -> None:
    encoding = translator.tokenizer.encode(TEXT)
    words = words_of(encoding.tokens)
    order = token_order(words, swapped_order(len(words), 2, 7))
    kept, moved = (measure_change(translator, encoding.ids, order, positions=positions) for positions in (False, True))
    assert kept.outputs.max() < 1e-5 and kept.attention.max() < 1e-5
    assert moved.outputs.min() > 1e-4 and moved.attention.max() > 1e-4
    same = measure_change(translator, encoding.ids, np.arange(len(encoding) + 1))
    assert same.outputs.max() == 0
    assert moved.by_word(words)[0, 0] == pytest.approx(moved.outputs[words[0].begin : words[0].end].mean())


def test_taking_positions_away_is_what_a_model_without_them_does(translator: Translator) -> None:
    """Put the same weights in a model that was built without positions, and run it by hand on both orders."""
    bare = Transformer(translator.config.replace(positions="none")).eval()
    bare.load_state_dict(translator.model.state_dict())
    ids = translator.tokenizer.encode("The dog.").ids
    count = len(ids)
    order = np.array([*reversed(range(count)), count])
    eos = translator.tokenizer.special.eos
    source = torch.tensor([[*ids, eos], [*ids[::-1], eos]])
    with torch.no_grad():
        memory = bare.encode(source, torch.ones(2, 1, 1, count + 1, dtype=torch.bool))
    back = torch.tensor([*reversed(range(count)), count])
    expected = (memory[1][back] - memory[0]).norm(dim=1) / memory[0].norm(dim=1)
    result = measure_change(translator, ids, order, positions=False).outputs
    np.testing.assert_allclose(result, expected, atol=1e-5)
    one, other = translate_rows(translator, [ids, ids[::-1]], 2, positions=False)
    assert one == other


@pytest.mark.parametrize("positions", [True, False])
def test_a_parser_without_positions_still_generates_only_trees(parser_checkpoint: Path, positions: bool) -> None:
    parser = Translator.load(parser_checkpoint)
    words = ["The", "dog", "saw", "a", "cat", "."]
    ids = parser.encode(" ".join(words)).ids
    for symbols in translate_rows(parser, [ids, ids[::-1]], 2, positions=positions):
        assert not to_tree(symbols.split(), words).repairs


def test_the_lesson_answers_its_controls_and_survives_one_word(visit: Visit) -> None:
    numbers = data(visit("swap", TEXT, first=0, second=2))
    assert numbers.answers == {"first": 0, "second": 2}
    assert numbers.values["order"][:3] == [2, 1, 0]
    groups, rows, words = numbers.arrays["changes"].shape
    assert (groups, rows, words) == (len(numbers.values["groups"]), 2, len(numbers.values["words"]))
    assert numbers.values["groups"][:2] == ["with", "off"]
    alone = data(visit("swap", "Hello"))
    assert alone.values["words"] == [] and "changes" not in alone.arrays
    assert data(visit("predict", TEXT)).values["backwards"]["off"][0] is not None


def test_a_learned_table_is_compared_row_by_row() -> None:
    config = ModelConfig(
        vocab_size=40, d_model=16, d_ff=32, num_layers=1, num_heads=2, positions="learned", max_positions=20
    )
    model = Transformer(config)
    alike = compare_position_tables(model, trained=9).alike
    assert alike.shape == (3, 20, 20)
    assert model.source_positions is not None
    one, other = model.source_positions.weight[3].tolist(), model.source_positions.weight[7].tolist()
    by_hand = sum(a * b for a, b in zip(one, other, strict=True)) / (np.linalg.norm(one) * np.linalg.norm(other))
    assert alike[1, 3, 7] == pytest.approx(by_hand, abs=1e-5)
    np.testing.assert_allclose(alike[:, range(20), range(20)], 1, atol=1e-6)
