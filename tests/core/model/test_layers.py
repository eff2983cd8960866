"""Layers against torch.nn with copied weights, in every variant; sines and cosines against Section 3.5."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.core.tiny import drawn_biases_and_norms, tiny_config
from tests.core.torch_twins import copy_layer, torchs
from transformer_core.cpu.dropout import Dropout
from transformer_core.model.layers import AddAndNorm, DecoderLayer, EncoderLayer, FeedForward
from transformer_core.model.masks import causal_mask
from transformer_core.model.positions import LearnedPositions, SinusoidalPositions, TooLong, sinusoidal_positions

CHOICES: list[dict[str, Any]] = [
    {},
    {"norm": "pre"},
    {"activation": "gelu", "attention_biases": True},
    {"activation": "swish", "norm": "pre", "attention_biases": True},
]


def twins(ours: Any, theirs: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    """A layer with drawn weights, and torch's with the same."""
    config = tiny_config(d_k=4, d_v=4, **options)
    torch.manual_seed(3)
    layer, reference = drawn_biases_and_norms(ours(config).eval()), theirs(**torchs(config))
    copy_layer(reference, layer)
    return layer, reference


@pytest.mark.parametrize("options", CHOICES, ids=str)
@torch.no_grad()
def test_encoder_layer_against_torch(options: dict[str, Any]) -> None:
    layer, reference = twins(EncoderLayer, nn.TransformerEncoderLayer, options)
    x = torch.randn(3, 6, 16)
    padding = torch.arange(6)[None] >= torch.tensor([[6], [4], [1]])
    expected = reference.train()(x, src_key_padding_mask=padding)  # train: its own code, not the fast path
    torch.testing.assert_close(layer(x, ~padding[:, None, None, :]), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("options", CHOICES, ids=str)
@torch.no_grad()
def test_decoder_layer_against_torch(options: dict[str, Any]) -> None:
    layer, reference = twins(DecoderLayer, nn.TransformerDecoderLayer, options)
    x, memory = torch.randn(3, 5, 16), torch.randn(3, 7, 16)
    padding = torch.arange(7)[None] >= torch.tensor([[7], [3], [1]])
    causal, source_mask = causal_mask(5), ~padding[:, None, None, :]
    expected = reference(x, memory, tgt_mask=~causal[0, 0], memory_key_padding_mask=padding)

    def to_self(y: Tensor) -> Tensor:
        out: Tensor = layer.self_attention(y, y, causal)
        return out

    def to_source(y: Tensor) -> Tensor:
        out: Tensor = layer.cross_attention(y, memory, source_mask)
        return out

    torch.testing.assert_close(layer(x, to_self, to_source), expected, atol=1e-5, rtol=1e-5)


def test_dropout_falls_on_the_sublayer_before_it_is_added() -> None:
    step = AddAndNorm(tiny_config(dropout=0.5)).train()
    x = torch.randn(4, 6, 16)
    torch.manual_seed(11)
    out = step(x, lambda y: 3 * y)
    torch.manual_seed(11)
    summed = x + Dropout(0.5)(3 * x)
    torch.testing.assert_close(out, F.layer_norm(summed, (16,), eps=1e-6))
    step.eval()
    torch.testing.assert_close(step(x, lambda y: 3 * y), F.layer_norm(4 * x, (16,), eps=1e-6))


def test_pre_norm_drops_the_sublayer_and_leaves_the_sum_alone() -> None:
    step = AddAndNorm(tiny_config(dropout=0.5, norm="pre")).train()
    x = torch.randn(4, 6, 16)
    torch.manual_seed(11)
    out = step(x, lambda y: 3 * y)
    torch.manual_seed(11)
    torch.testing.assert_close(out, x + Dropout(0.5)(3 * F.layer_norm(x, (16,), eps=1e-6)))


def test_activation_dropout_falls_between_activation_and_second_projection() -> None:
    network = FeedForward(16, 24, activation="swish", dropout=0.5).train()
    x = torch.randn(2, 5, 16)
    inner = network.w_1(x) * torch.sigmoid(network.w_1(x))
    torch.manual_seed(11)
    out = network(x)
    torch.manual_seed(11)
    torch.testing.assert_close(out, network.w_2(Dropout(0.5)(inner)))
    torch.testing.assert_close(network.eval()(x), network.w_2(inner))


@pytest.mark.parametrize(
    ("position", "pair", "d_model"), [(0, 0, 8), (1, 0, 8), (7, 3, 8), (100, 5, 512), (511, 255, 512)]
)
def test_formula(position: int, pair: int, d_model: int) -> None:
    angle = position / 10_000 ** (2 * pair / d_model)
    table = sinusoidal_positions(position + 1, d_model)
    assert float(table[position, 2 * pair]) == pytest.approx(math.sin(angle), abs=1e-6)
    assert float(table[position, 2 * pair + 1]) == pytest.approx(math.cos(angle), abs=1e-6)


def test_rows_from_any_start() -> None:
    positions = SinusoidalPositions(8, length=10)
    assert torch.equal(positions(3, 4), sinusoidal_positions(7, 8)[3:])


def test_the_table_grows_and_keeps_its_rows() -> None:
    positions = SinusoidalPositions(8, length=4)
    before = positions(0, 4).clone()
    assert torch.equal(positions(0, 9), sinusoidal_positions(9, 8))
    assert torch.equal(positions(0, 4), before)
    assert torch.equal(positions(20, 1), sinusoidal_positions(21, 8)[20:])


def test_the_table_is_not_saved() -> None:
    assert SinusoidalPositions(8).state_dict() == {}


def test_concatenated_halves_against_marian() -> None:
    from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding

    theirs = MarianSinusoidalPositionalEmbedding(50, 32).create_weight()
    torch.testing.assert_close(SinusoidalPositions(32, interleaved=False)(0, 50), theirs)


def test_concatenated_halves_are_the_same_columns_in_another_order() -> None:
    interleaved, halves = sinusoidal_positions(9, 8), sinusoidal_positions(9, 8, interleaved=False)
    assert torch.equal(halves, interleaved[:, [0, 2, 4, 6, 1, 3, 5, 7]])
    grown = SinusoidalPositions(8, length=4, interleaved=False)
    assert torch.equal(grown(0, 9), halves)


def test_learned_rows_are_those_of_the_table_and_end_where_it_ends() -> None:
    learned = LearnedPositions(8, 10)
    torch.nn.init.normal_(learned.weight)
    assert torch.equal(learned(3, 4), learned.weight[3:7])
    assert learned(9, 1).shape == (1, 8)
    with pytest.raises(TooLong, match=r"11 positions, but this model has learned only 10 \(max_positions\)"):
        learned(9, 2)
