"""Muon and Adam together: who moves what, steps against the definition in float64, resuming, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from tests.core.tiny import inputs_for, tiny_model
from tests.core.training.runs import SHORT, new_trainer, same, train, weights_of
from transformer_core.config import ConfigError, TrainingConfig
from transformer_core.data import Corpus
from transformer_core.model.transformer import Transformer
from transformer_core.training.optimizer import Optimizer

MUON = SHORT.replace(optimizer="muon", muon_factor=2.0)


def polar(matrix: Tensor) -> Tensor:
    """U V^T of the singular value decomposition."""
    u, _, v = torch.linalg.svd(matrix.double(), full_matrices=False)
    turned: Tensor = u @ v
    return turned


def test_muon_moves_the_matrices_of_the_layers_and_nothing_else(model: Transformer) -> None:
    optimizer = Optimizer(model, MUON)
    turned = {name for name, each in model.named_parameters() if "momentum_buffer" in optimizer.state[each]}
    matrices = {name for name, each in model.named_parameters() if each.ndim == 2 and ".layers." in name}
    assert turned == matrices and len(matrices) >= 16
    assert not any("embedding" in name for name in turned)
    assert set(optimizer.state) == set(model.parameters()), "each weight"


@pytest.mark.parametrize("shape", [(16, 16), (32, 16), (16, 32)])
def test_a_step_is_the_momentum_turned(shape: tuple[int, int]) -> None:
    """Against the singular values: Muon's five iterations bring them near 1, and leave the directions alone."""
    model = tiny_model(d_model=16, d_ff=32, num_heads=4, d_k=4, d_v=4)
    optimizer = Optimizer(model, MUON)
    weights = [each for name, each in model.named_parameters() if ".layers." in name and each.shape == shape]
    assert weights
    before = [each.detach().clone() for each in weights]
    generator = torch.Generator().manual_seed(1)
    gradients = [torch.randn(shape, generator=generator) for _ in weights]
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    for parameter, gradient in zip(weights, gradients, strict=True):
        parameter.grad = gradient.clone()
    optimizer.rate.fill_(1e-2)
    optimizer.step()
    size = 1e-2 * MUON.muon_factor * 0.2 * max(shape) ** 0.5  # the size of Adam's steps, times the factor
    for parameter, old, gradient in zip(weights, before, gradients, strict=True):
        step = (old - parameter.detach()).double() / size
        values = torch.linalg.svdvals(step)
        assert values.max() < 1.3 and values.median() > 0.6
        # The first momentum is the gradient's multiple, whose turned form is the same.
        wanted = polar(gradient)
        alike = (step * wanted).sum() / (step.norm() * wanted.norm())
        assert alike > 0.95


def test_the_rest_moves_as_with_adam_alone() -> None:
    one, other = tiny_model(), tiny_model()
    both, adam = Optimizer(one, MUON), Optimizer(other, MUON.replace(optimizer="adam"))
    for model, optimizer in ((one, both), (other, adam)):
        model(*inputs_for([5, 3], 4)).square().mean().backward()  # one step: later gradients differ
        optimizer.rate.fill_(1e-3)
        optimizer.step()
        optimizer.zero_grad()
        assert all(each.grad is None for each in model.parameters())
    after = dict(other.named_parameters())
    for name, parameter in one.named_parameters():
        moved_alike = torch.equal(parameter, after[name])
        assert moved_alike == ("exp_avg" in both.state[parameter]), name


def test_a_resumed_run_equals_an_uninterrupted_one(corpus: Corpus, tmp_path: Path) -> None:
    whole = train(corpus, tmp_path / "whole", MUON)
    new_trainer(corpus, tmp_path / "parts", MUON.replace(steps=3)).train()
    resumed = train(corpus, tmp_path / "parts", MUON, resume=True)
    assert same(weights_of(whole), weights_of(resumed))


def test_spread_matrices_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"parallel is 'fsdp'.*muon"):
        TrainingConfig(optimizer="muon", parallel="fsdp")


@pytest.mark.parametrize("shape", [(16, 16), (64, 16), (16, 64)])
def test_the_steps_are_torchs(shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Three steps of torch.optim.Muon, matrix by matrix; in float32, since each processor rounds bfloat16 otherwise."""
    monkeypatch.setattr(torch.Tensor, "bfloat16", torch.Tensor.float)
    model = tiny_model(d_model=16, d_ff=64, num_heads=4, d_k=4, d_v=4)
    matrices = [each for name, each in model.named_parameters() if ".layers." in name and each.shape == shape]
    twins = [nn.Parameter(each.detach().clone()) for each in matrices]
    optimizer = Optimizer(model, MUON)
    reference = torch.optim.Muon(twins, lr=1e-2 * MUON.muon_factor, weight_decay=0.0, adjust_lr_fn="match_rms_adamw")
    generator = torch.Generator().manual_seed(3)
    optimizer.rate.fill_(1e-2)
    for _ in range(3):
        for parameter in model.parameters():
            parameter.grad = torch.randn(parameter.shape, generator=generator)
        for twin, matrix in zip(twins, matrices, strict=True):
            twin.grad = matrix.grad
        optimizer.step()
        reference.step()  # type: ignore[no-untyped-call]
    assert len(matrices) >= 2
    for twin, matrix in zip(twins, matrices, strict=True):
        torch.testing.assert_close(matrix, twin, atol=1e-6, rtol=1e-5)
        assert torch.equal(optimizer.state[matrix]["momentum_buffer"], reference.state[twin]["momentum_buffer"])
