"""Masks, cell by cell."""

from __future__ import annotations

import pytest
import torch

from transformer_core.masks import causal_mask, meaning_of, padding_mask


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


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_what_a_mask_adds_to_scores(dtype: torch.dtype) -> None:
    added = meaning_of(torch.tensor([[True, False]])).added_as(dtype)
    assert added.dtype == dtype
    assert added.tolist() == [[0.0, -torch.inf]]


def test_queries_that_see_nothing_are_told_only_if_there_are_some() -> None:
    assert meaning_of(causal_mask(4)).nowhere is None
    mask = causal_mask(3)
    mask[..., 1, :] = False
    nowhere = meaning_of(mask).nowhere
    assert nowhere is not None
    assert nowhere.flatten().tolist() == [False, True, False]


def test_a_meaning_is_remembered_until_the_mask_changes() -> None:
    mask = torch.ones(1, 1, 1, 3, dtype=torch.bool)
    assert meaning_of(mask) is meaning_of(mask)
    mask[..., 2] = False
    assert meaning_of(mask).added_as(torch.float32).flatten().tolist() == [0.0, 0.0, -torch.inf]


def test_masks_of_inference_mode_are_read_every_time() -> None:
    with torch.inference_mode():
        mask = torch.ones(2, dtype=torch.bool)
        assert meaning_of(mask).added_as(torch.float32).tolist() == [0.0, 0.0]
        mask[0] = False
        assert meaning_of(mask).added_as(torch.float32).tolist() == [-torch.inf, 0.0]
