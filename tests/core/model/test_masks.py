"""Masks, cell by cell."""

from __future__ import annotations

import pytest
import torch

from transformer_core.model.masks import attention_bias, causal_mask, padding_mask


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
    added = attention_bias(torch.tensor([[True, False]])).as_additive(dtype)
    assert added.dtype == dtype
    assert added.tolist() == [[0.0, -torch.inf]]


def test_queries_that_see_nothing_are_told_only_if_there_are_some() -> None:
    assert attention_bias(causal_mask(4)).fully_masked is None
    mask = causal_mask(3)
    mask[..., 1, :] = False
    fully_masked = attention_bias(mask).fully_masked
    assert fully_masked is not None
    assert fully_masked.flatten().tolist() == [False, True, False]


def test_a_meaning_is_remembered_until_the_mask_changes() -> None:
    mask = torch.ones(1, 1, 1, 3, dtype=torch.bool)
    assert attention_bias(mask) is attention_bias(mask)
    mask[..., 2] = False
    assert attention_bias(mask).as_additive(torch.float32).flatten().tolist() == [0.0, 0.0, -torch.inf]


def test_masks_of_inference_mode_are_read_every_time() -> None:
    with torch.inference_mode():
        mask = torch.ones(2, dtype=torch.bool)
        assert attention_bias(mask).as_additive(torch.float32).tolist() == [0.0, 0.0]
        mask[0] = False
        assert attention_bias(mask).as_additive(torch.float32).tolist() == [-torch.inf, 0.0]
