"""Masks, cell by cell."""

from __future__ import annotations

import torch

from transformer_core.model.masks import causal_mask, padding_mask


def test_padding_mask_marks_real_positions() -> None:
    ids = torch.tensor([[5, 6, 2], [7, 2, 0]])
    mask = padding_mask(ids, pad=0)
    assert mask.shape == (2, 1, 1, 3)
    assert mask.dtype == torch.bool
    assert mask[:, 0, 0].tolist() == [[True, True, True], [True, True, False]]


def test_padding_mask_takes_the_id_that_it_is_told() -> None:
    assert padding_mask(torch.tensor([[0, 9]]), pad=9).flatten().tolist() == [True, False]


def test_causal_mask_shows_itself_and_the_past() -> None:
    mask = causal_mask(5)
    assert mask.shape == (1, 1, 5, 5)
    for query in range(5):
        for key in range(5):
            assert bool(mask[0, 0, query, key]) == (key <= query)
