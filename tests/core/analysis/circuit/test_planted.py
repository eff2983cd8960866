"""Planted circuits: models trained so that one known head carries a known bit, and models in which none does."""

from __future__ import annotations

import random
from itertools import product

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from tests.core.tiny import tiny_config
from transformer_core import Tokenizer, Transformer, Translator
from transformer_core.analysis.circuit import MinimalPair, circuit
from transformer_core.analysis.circuit.result import Method
from transformer_core.hooks.hook_sites import Site
from transformer_core.hooks.points import edit

HEADS, STEPS = 4, 150
FIRST, SECOND = ("man", "child", "woman", "dog", "cat", "bird"), ("house", "garden", "street", "park", "city", "lake")
BITS, ANSWERS = ("now", "then"), ("ja", "nein")
SENTENCES = list(product(FIRST, SECOND))
GROUPS = 12


@pytest.fixture(scope="module")
def vocabulary() -> Tokenizer:
    texts = [f"{a} {b} {bit}" for (a, b), bit in product(SENTENCES, BITS)]
    return Tokenizer.train([*texts, *ANSWERS * 20], vocab_size=60, threads=1)


def trained(vocabulary: Tokenizer, seed: int, planted: int | None) -> Translator:
    """A model whose answer is the bit, which only the planted head can see; without one, the answer is a coin's.

    In training all other heads of the encoder-decoder attention read a sentence with another bit at random.
    """
    torch.manual_seed(seed)
    draw = random.Random(seed)
    model = Transformer(tiny_config(vocab_size=len(vocabulary), num_layers=1, num_heads=HEADS, d_k=8, d_v=8))
    translator, special = Translator(model, vocabulary), vocabulary.special
    encoded = {
        (words, bit): [*translator.encode(f"{words[0]} {words[1]} {BITS[bit]}").ids, special.eos]
        for words in SENTENCES
        for bit in (0, 1)
    }
    answers = [translator.encode_target(text).ids[0] for text in ANSWERS]
    longest = max(map(len, encoded.values()))
    rows = {key: [*ids, *[special.pad] * (longest - len(ids))] for key, ids in encoded.items()}
    others = [head for head in range(HEADS) if head != planted]

    def scramble(value: Tensor, _site: Site) -> Tensor:
        changed, half = value.clone(), len(value) // 2
        changed[:half, others] = value[half:, others]
        return changed

    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    model.train()
    for _ in range(STEPS):
        words, bits = draw.choices(SENTENCES, k=32), draw.choices((0, 1), k=32)
        noise = draw.choices((0, 1), k=32)
        source = torch.tensor([rows[key] for each in (bits, noise) for key in zip(words, each, strict=True)])
        inputs = torch.full((64, 1), special.bos)
        mask = (source != special.pad)[:, None, None]
        with edit(model, "cross.1.head_outputs", scramble):
            logits = model(source, inputs, mask)[:32, 0]
        wanted = bits if planted is not None else draw.choices((0, 1), k=32)
        loss = cross_entropy(logits, torch.tensor([answers[each] for each in wanted]))
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
    model.eval()
    return translator


def pairs(vocabulary: Tokenizer) -> list[MinimalPair]:
    chosen = random.Random(0).sample(SENTENCES, 2 * GROUPS)
    return [
        MinimalPair(f"{a} {b} {BITS[0]}", f"{a} {b} {BITS[1]}", ANSWERS, group=str(number % GROUPS))
        for number, (a, b) in enumerate(chosen)
    ]


METHODS: tuple[Method, ...] = ("eap-ig", "eap", "patching")


@pytest.mark.parametrize("method", METHODS)
def test_the_planted_head_is_first_and_beyond_the_null(vocabulary: Tokenizer, method: Method) -> None:
    assert all(is_first(vocabulary, seed, method) for seed in range(HEADS))


def test_no_head_is_marked_in_a_model_without_the_bit(vocabulary: Tokenizer) -> None:
    assert not any(is_false_alarm(vocabulary, seed, "eap-ig") for seed in range(HEADS))


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_the_planted_head_is_first_in_95_of_100_models(vocabulary: Tokenizer, method: Method) -> None:
    assert sum(is_first(vocabulary, seed, method) for seed in range(100)) >= 95


@pytest.mark.slow
def test_at_most_5_of_100_models_without_the_bit_have_a_marked_head(vocabulary: Tokenizer) -> None:
    assert sum(is_false_alarm(vocabulary, seed, "eap-ig") for seed in range(100)) <= 5


def is_first(vocabulary: Tokenizer, seed: int, method: Method) -> bool:
    planted = seed % HEADS
    result = circuit(trained(vocabulary, seed, planted), pairs(vocabulary), method=method, edges=False)
    heads = [at for at, name in enumerate(result.node_names) if name.startswith("cross.1.")]
    scores, beyond = result.nodes.mean(dim=0)[heads], result.is_beyond_null[heads]
    return int(scores.abs().argmax()) == planted and bool(beyond[planted])


def is_false_alarm(vocabulary: Tokenizer, seed: int, method: Method) -> bool:
    result = circuit(trained(vocabulary, seed, None), pairs(vocabulary), method=method, edges=False)
    heads = [at for at, name in enumerate(result.node_names) if at and not name.endswith(".ffn")]
    return bool(result.is_beyond_null[heads].any())
