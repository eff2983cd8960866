"""Muon and Adam together: steps against the definition in float64, resuming, refusals; the rate of Section 5.3."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from tests.core.tiny import inputs_for, tiny_model
from tests.core.training.runs import SHORT
from transformer_core import ConfigError, TrainingConfig, Transformer
from transformer_core.training.optimizer import Optimizer
from transformer_core.training.schedule import cooldown, learning_rate, scheduled_rate

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


@pytest.mark.parametrize(("d_model", "peak"), [(512, 6.99e-4), (1024, 4.94e-4)])
def test_peaks_of_base_and_big(d_model: int, peak: float) -> None:
    rates = [learning_rate(step, d_model=d_model, warmup_steps=4000) for step in range(1, 8001)]
    assert max(rates) == pytest.approx(peak, rel=1e-3)
    assert rates.index(max(rates)) + 1 == 4000


def test_rises_linearly_then_falls_with_the_root() -> None:
    def rate(step: int) -> float:
        return learning_rate(step, d_model=256, warmup_steps=100)

    assert rate(1) == pytest.approx(256**-0.5 * 100**-1.5)
    assert rate(50) == pytest.approx(50 * rate(1))
    assert rate(100) == pytest.approx(1 / 160)  # 256^-0.5 * 100^-0.5
    assert rate(400) == pytest.approx(rate(100) / 2)


@pytest.mark.parametrize("step", [0, -1])
def test_there_is_no_step_before_the_first(step: int) -> None:
    with pytest.raises(ValueError, match=f"step is {step}"):
        learning_rate(step, d_model=256, warmup_steps=100)


def test_a_cooldown_falls_in_a_straight_line_to_nothing() -> None:
    shares = [cooldown(step, steps=20, cooldown_steps=4) for step in range(1, 21)]
    assert shares[:16] == [1.0] * 16
    assert shares[16:] == pytest.approx([0.8, 0.6, 0.4, 0.2])  # and 0 after the end
    assert cooldown(21, steps=20, cooldown_steps=4) == 0.0


def test_a_training_takes_both_from_its_configuration() -> None:
    config = TrainingConfig(steps=20, warmup_steps=10, learning_rate_factor=0.5, cooldown_steps=4)
    assert scheduled_rate(10, 256, config) == pytest.approx(0.5 / 16 / 10**0.5)
    assert scheduled_rate(20, 256, config) == pytest.approx(0.5 / 16 / 20**0.5 * 0.2)
