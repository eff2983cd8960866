"""Dropout on a CPU, against torch.nn.Dropout."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from transformer_core.cpu.dropout import Dropout, keep_mask


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("p", [0.1, 0.3, 0.5])
def test_share_and_scale(p: float, dtype: torch.dtype) -> None:
    count = 400_000
    out = Dropout(p).train()(torch.ones(count, dtype=dtype))
    assert out.dtype == dtype
    dropped = float((out == 0).float().mean())
    assert abs(dropped - p) < 5 * math.sqrt(p * (1 - p) / count) + 2**-17
    (kept,) = out[out != 0].unique().tolist()
    assert kept == pytest.approx(1 / (1 - p), rel=1e-4 if dtype == torch.float32 else 2**-8)


def test_every_value_of_a_word_is_drawn_alike() -> None:
    """Four values share 64 random bits: none may be luckier, none may follow another."""
    kept = keep_mask(torch.empty(100_000, 4), round(0.3 * 2**16))
    bound = 5 * math.sqrt(0.21 / 100_000)
    assert bool(((kept.mean(dim=0) - 0.7).abs() < bound).all())
    together = torch.corrcoef(torch.cat((kept, kept.roll(1, dims=0)), dim=1).T) - torch.eye(8)
    assert float(together.abs().max()) < 5 / math.sqrt(100_000)


def test_the_gradient_passes_where_the_value_did() -> None:
    x = torch.rand(30, 70) + 1
    x.requires_grad_()
    out = Dropout(0.4).train()(x)
    (gradient,) = torch.autograd.grad(out.sum(), x)
    torch.testing.assert_close(gradient, out.detach() / x.detach())


@pytest.mark.parametrize("shape", [(), (1,), (3, 5), (0, 4), (2, 3, 7)])
def test_any_shape(shape: tuple[int, ...]) -> None:
    assert Dropout(0.5).train()(torch.ones(shape)).shape == shape


def test_nothing_or_everything() -> None:
    x = torch.randn(4, 6)
    assert Dropout(0.5).eval()(x) is x
    assert torch.equal(Dropout(0.0).train()(x), x)
    assert torch.equal(Dropout(1.0).train()(x), nn.Dropout(1.0).train()(x))


def test_a_seed_decides() -> None:
    drop, x = Dropout(0.2).train(), torch.ones(50, 3)
    torch.manual_seed(5)
    first = drop(x)
    torch.manual_seed(5)
    assert torch.equal(drop(x), first)
    assert not torch.equal(drop(x), first)
