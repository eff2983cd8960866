"""The lesson on positions: the formula in JavaScript, the linear map, what the order of words does to an encoder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from tests.app.lessons.conftest import Visit
from transformer_core.hooks.points import capture
from transformer_core.model.attention import MultiHeadAttention
from transformer_core.model.positions import sinusoidal_positions
from transformer_core.model.transformer import Transformer
from transformer_core.parsing.sequences import to_tree
from transformer_core.translator import Translator
from viz_app.lessons.positions.first_layer import read_first_layer
from viz_app.lessons.positions.numbers import data
from viz_app.lessons.small_models import SMALL
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
    script = """import { barColumn, block, dotProduct, encoding, mapError, meanEncodings, pairs }
        from "./lessons/positions/js/encoding.js";
    const values = Array.from({ length: 100 }, (_, i) => encoding(3 * i, (37 * i) % 128, 128));
    const products = [0, 1, 5, 20].map((k) => dotProduct(11, 11 + k, 128));
    const means = [0, 1, 40, 127].map((column) => meanEncodings(-12.5, 7, column, 128)(2));
    const rows = Array.from({ length: 128 }, (_, row) => barColumn(row, 128, 128));
    console.log(JSON.stringify(
        [values, products, mapError(9, 4, 128), block(4, 6, 128), pairs(128), means, rows]));"""
    values, products, error, block, pairs, means, rows = javascript(script)
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
    between = np.linspace(1.5, 8.5, 20_001)
    angles = between / 10_000 ** (np.array([0, 0, 40, 126])[:, None] / 128)
    waves = np.where(np.array([0, 1, 0, 1])[:, None], np.cos(angles), np.sin(angles))
    np.testing.assert_allclose(means, waves.mean(axis=1), atol=1e-4)
    assert rows == [*range(0, 128, 2), *range(1, 128, 2)], "all sines, then all cosines"
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


def test_the_first_layer_reads_the_sum_and_a_score_is_the_sum_of_its_parts(translator: Translator) -> None:
    """Against the model's hooks, and the parts of the positions by hand from the formula of Section 3.5."""
    first = read_first_layer(translator, TEXT)
    encoder, config = translator.model.encoder, translator.config
    source = torch.tensor([[*translator.tokenizer.encode(TEXT).ids, translator.tokenizer.special.eos]])
    count = source.shape[1]
    with torch.no_grad(), capture(translator.model, ("embeddings", "scores", "weights")) as captured:
        translator.model.encode(source, torch.ones(1, 1, 1, count, dtype=torch.bool))
        attention = encoder.layers[0].self_attention
        assert isinstance(attention, MultiHeadAttention)
        table = sinusoidal_positions(count, config.d_model)
        queries, keys = (
            layer(table).view(count, config.num_heads, config.d_k).transpose(0, 1)
            for layer in (attention.w_q, attention.w_k)
        )
        bare = [queries @ keys.transpose(1, 2) / config.d_k**0.5]
        bare = [(scores - scores.mean(dim=2, keepdim=True)).numpy() for scores in bare]
    np.testing.assert_allclose(first.arrays["places"], table, atol=1e-6)
    np.testing.assert_allclose(
        first.arrays["words"] + first.arrays["places"], captured["encoder.embeddings"][0], atol=1e-5
    )
    parts, number = first.arrays["parts"], int(first.head.rpartition(".")[2]) - 1
    scores = captured[f"{first.head}.scores"][0].numpy()
    np.testing.assert_allclose(parts.sum(axis=0), scores - scores.mean(axis=1, keepdims=True), atol=1e-4)
    np.testing.assert_allclose(first.arrays["weights"], captured[f"{first.head}.weights"][0], atol=1e-6)
    assert first.head.startswith("encoder.1.")
    assert number == int(np.argmax(bare[0].std(axis=(1, 2)))), "positions matter most to it"
    np.testing.assert_allclose(parts[0], bare[0][number], atol=1e-4)


def test_without_positions_no_head_is_shown(translator: Translator) -> None:
    bare = Transformer(translator.config.replace(positions="none")).eval()
    bare.load_state_dict(translator.model.state_dict())
    first = read_first_layer(Translator(bare, translator.tokenizer, translator.decoding), TEXT)
    assert not first.head and set(first.arrays) == {"words", "places"} and not first.arrays["places"].any()


def test_the_learned_table_ends_where_its_training_ended(visit: Visit) -> None:
    numbers = data(visit("waves", TEXT))
    weights = load_file(SMALL / "learned-positions" / "model-00001-of-00001.safetensors")
    table = next(value for name, value in weights.items() if "source_positions" in name)
    np.testing.assert_allclose(numbers.arrays["table"], table[:64].float(), atol=1e-6)
    # Rows that training has seen have left their random values: their neighbours point the same way.
    unit = numbers.arrays["table"] / np.linalg.norm(numbers.arrays["table"], axis=1, keepdims=True)
    alike = (unit[1:] * unit[:-1]).sum(axis=1)
    trained = numbers.values["trained"]
    assert alike[: trained - 8].mean() > 0.5 > 0.1 > abs(alike[trained:].mean())
