"""Translators with drawn weights in several shapes, for the tests of analyses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch

from tests.core.tiny import drawn_biases_and_norms, tiny_config
from transformer_core import Tokenizer, Transformer, Translator
from transformer_core.attention_maps import KINDS, Kind
from transformer_core.head import Head

SOURCE, TARGET = "The man sees a house today.", "Der Mann sieht ein Haus heute."
FEW_SHAPES: list[dict[str, Any]] = [{}, {"norm": "pre"}, {"attention_biases": True}]
SHAPES: list[dict[str, Any]] = [
    {},
    {"norm": "pre"},
    {"residual": False},
    {"attention_biases": True, "embedding_norm": True},
    {"norm": "pre", "attention_biases": True, "embedding_norm": True},
    {"attention": "additive"},
    {"window": 3},
    {"tie": "none", "output_bias": True, "positions": "learned", "max_positions": 64},
]


def make_translator(tokenizer: Tokenizer, **options: Any) -> Translator:
    torch.manual_seed(5)
    return Translator(drawn_biases_and_norms(Transformer(tiny_config(vocab_size=len(tokenizer), **options))), tokenizer)


def of_shapes(shapes: Sequence[dict[str, Any]]) -> pytest.MarkDecorator:
    """Run a test with a `translator` of each shape."""
    return pytest.mark.parametrize("translator", shapes, indirect=True, ids=str)


def sublayers(translator: Translator) -> list[tuple[Kind, int]]:
    return [(kind, layer) for kind in KINDS for layer in range(translator.config.num_layers)]


def heads(translator: Translator) -> list[Head]:
    return [Head(*sublayer, head) for sublayer in sublayers(translator) for head in range(translator.config.num_heads)]
