"""Sines and cosines against the formula of Section 3.5 and its laws."""

from __future__ import annotations

import math

import pytest
import torch

from transformer_core.model.positions import LearnedPositions, SinusoidalPositions, TooLong, sinusoidal_positions


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
