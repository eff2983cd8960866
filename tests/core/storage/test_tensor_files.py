"""Tensors of a file: whether all their numbers are finite."""

from __future__ import annotations

import math

import pytest
import torch

from transformer_core.storage.tensor_files import all_finite


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("shape", [(1,), (7, 3), (2, 5_000)], ids=str)
def test_one_number_that_is_not_finite_is_found_wherever_it_is(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    generator = torch.Generator().manual_seed(1)
    tensor = torch.randn(shape, generator=generator).to(dtype)
    largest = torch.finfo(dtype).max
    tensor.view(-1)[0] = largest
    assert all_finite(tensor) and all_finite(-tensor)
    for bad in (math.nan, math.inf, -math.inf):
        for place in {0, tensor.numel() // 2, tensor.numel() - 1}:
            damaged = tensor.clone()
            damaged.view(-1)[place] = bad
            assert not all_finite(damaged) and not bool(torch.isfinite(damaged).all())


def test_nothing_is_finite() -> None:
    assert all_finite(torch.empty(0, 4))
