"""A model whose heads are made by hand, and sentences and trees in which nothing but the rule explains them.

Positions and words are one-hot, side by side, so that a head can ask for either. All other weights are 0: heads that
are not made by hand have equal weights.
"""

from __future__ import annotations

import random
from pathlib import Path

import torch

from transformer_core import DecodingConfig, ModelConfig, Tokenizer, Transformer, save_checkpoint
from transformer_core.model.attention import MultiHeadAttention

NOUNS, VERBS, FILL = (tuple(f"{kind}{letter}" for letter in "abcdef") for kind in ("noun", "verb", "fill"))
WORDS = (*NOUNS, *VERBS, *FILL)
POSITIONS = 24
LOUD = 40.0


def tokenizer() -> Tokenizer:
    return Tokenizer.from_symbols(WORDS)


def sentence(rng: random.Random) -> tuple[list[str], int, int]:
    """Words in any order, one noun and one verb among them, and some fill word twice; places of noun and verb."""
    fill = rng.sample(FILL, 4)
    words = [*fill, rng.choice(fill), rng.choice(NOUNS), rng.choice(VERBS)]
    order = list(range(len(words)))
    rng.shuffle(order)
    return [words[at] for at in order], order.index(5), order.index(6)


def sentences(count: int, seed: int) -> list[list[str]]:
    """Pairs of source and target; the target is another sentence."""
    rng = random.Random(seed)
    return [[" ".join(sentence(rng)[0]), " ".join(sentence(rng)[0])] for _ in range(count)]


def conllu(count: int, seed: int, *, subjects: bool = True) -> str:
    """Trees: the noun is the subject of the verb, if there are subjects; everything else is drawn."""
    rng, lines = random.Random(seed), list[str]()
    for _ in range(count):
        words, noun, verb = sentence(rng)
        if not subjects:
            noun, verb = rng.sample(range(len(words)), 2)
        for number, word in enumerate(words):
            other = rng.choice([each for each in range(len(words)) if each != number])
            head, relation = other + 1, rng.choice(("obj", "obl", "amod"))
            if number == verb:
                head, relation = 0, "root"
            elif number == noun:
                head, relation = verb + 1, "nsubj"
            lines.append("\t".join([str(number + 1), word, *"____", str(head), relation, "_", "_"]))
        lines.append("")
    return "\n".join(lines) + "\n"


def save_model(folder: Path, *, planted: bool, seed: int = 0) -> None:
    """One layer of five heads: the token before; another copy of the token; from noun to verb; `</s>`; and none.

    There is no punctuation, so `</s>` is the only separator: two rules say the same.
    """
    vocabulary = tokenizer()
    size = len(vocabulary)
    width = POSITIONS + size
    config = ModelConfig(
        vocab_size=size,
        d_model=width,
        d_ff=8,
        num_layers=1,
        num_heads=5,
        d_k=width,
        d_v=4,
        dropout=0.0,
        positions="learned",
        max_positions=POSITIONS,
    )
    torch.manual_seed(seed)
    model = Transformer(config)
    if planted:
        _plant(model, vocabulary, width)
    decoding = DecodingConfig(extra_length=3, max_source_tokens=POSITIONS - 4)
    save_checkpoint(folder, model.state_dict(), config, vocabulary, decoding=decoding)


@torch.no_grad()
def _plant(model: Transformer, vocabulary: Tokenizer, width: int) -> None:
    size = len(vocabulary)
    for name, parameter in model.named_parameters():
        if "norm" not in name:
            parameter.zero_()
    for parameter in model.parameters():
        if tuple(parameter.shape) == (size, width):
            parameter[:, POSITIONS:] = torch.eye(size) / width**0.5  # the embedding is multiplied by sqrt(d_model)
        if tuple(parameter.shape) == (POSITIONS, width):
            parameter[:, :POSITIONS] = torch.eye(POSITIONS)
    attention = model.get_submodule("encoder.layers.0.self_attention")
    assert isinstance(attention, MultiHeadAttention)
    scale = width**0.5 * LOUD  # scores are divided by sqrt(d_k)
    place, word = torch.zeros(width, width), torch.zeros(width, width)
    place[:POSITIONS, :POSITIONS] = torch.eye(POSITIONS)
    word[POSITIONS:, POSITIONS:] = torch.eye(size)
    before = torch.zeros(width, width)
    before[: POSITIONS - 1, 1:POSITIONS] = torch.eye(POSITIONS - 1)  # position i asks for i - 1
    number = {token: POSITIONS + vocabulary.encode(token).ids[0] for token in WORDS}
    ask, answer = torch.zeros(width, width), torch.zeros(width, width)
    for noun in NOUNS:
        ask[0, number[noun]] = 1.0
    for verb in VERBS:
        answer[0, number[verb]] = 1.0
    ask_end, is_end = torch.zeros(width, width), torch.zeros(width, width)
    ask_end[0, POSITIONS:] = 1.0
    is_end[0, POSITIONS + vocabulary.special.eos] = 1.0
    queries = [scale * before, scale * (word + place), scale * ask, scale * ask_end, torch.zeros(width, width)]
    keys = [place, word - 2 * place, answer, is_end, torch.zeros(width, width)]
    attention.w_q.weight.copy_(torch.cat(queries))
    attention.w_k.weight.copy_(torch.cat(keys))
