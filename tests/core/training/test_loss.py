"""Label smoothing by hand, and the loss in chunks against torch."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_core.config import Smoothing
from transformer_core.devices import backend
from transformer_core.training import loss as loss_module
from transformer_core.training.loss import mass_on_others, output_loss, row_sums

PAD = 0


def drawn(rows: int = 3, length: int = 5, d: int = 8, vocabulary: int = 11) -> tuple[Tensor, Tensor, Tensor]:
    """Vectors (B, T, d), weight (V, d), targets (B, T) with padding in every row but the first."""
    torch.manual_seed(0)
    vectors, weight = torch.randn(rows, length, d, requires_grad=True), torch.randn(vocabulary, d, requires_grad=True)
    targets = torch.randint(1, vocabulary, (rows, length))
    for row in range(1, rows):
        targets[row, -1 - row % (length - 1) :] = PAD
    return vectors, weight, targets


def test_worked_by_hand() -> None:
    # Probabilities 1/4, 1/2, 1/4; the right token is the second; epsilon 0.1 leaves 0.9 and gives 0.05 to each other.
    loss = output_loss(
        torch.tensor([[[0.0, math.log(2.0), 0.0]]]), torch.eye(3), torch.tensor([[1]]), pad=PAD, smoothing=0.1
    )
    assert float(loss.nll) == pytest.approx(math.log(2))
    assert float(loss.smoothed) == pytest.approx(0.9 * math.log(2) + 0.05 * math.log(4) + 0.05 * math.log(4))


@pytest.mark.parametrize(("chunk", "biased"), [(1, False), (4, True), (512, False)])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("convention", ["others", "uniform"])
@pytest.mark.parametrize("shape", [(3, 5, 8, 11), (4, 300, 8, 50), (1, 2, 8, 3)])
def test_loss_and_gradients_are_torchs(
    chunk: int,
    biased: bool,
    epsilon: float,
    convention: Smoothing,
    shape: tuple[int, int, int, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """torch spreads epsilon over all V classes, the paper's code over the V - 1 wrong ones."""
    monkeypatch.setattr(loss_module, "_CPU_CHUNK", chunk)
    vectors, weight, targets = drawn(*shape)
    classes = len(weight)
    bias = torch.randn(classes, requires_grad=True) if biased else None
    smoothing = mass_on_others(epsilon, classes, convention)
    loss = output_loss(vectors, weight, targets, pad=PAD, smoothing=smoothing, bias=bias)
    logits, flat = F.linear(vectors, weight, bias).flatten(0, 1), targets.flatten()
    share = epsilon if convention == "uniform" else epsilon * classes / (classes - 1)
    expected = F.cross_entropy(logits, flat, label_smoothing=share, reduction="sum", ignore_index=PAD)
    torch.testing.assert_close(loss.smoothed, expected, atol=1e-5, rtol=1e-5)
    nll = F.cross_entropy(logits, flat, reduction="sum", ignore_index=PAD)
    torch.testing.assert_close(loss.nll, nll, atol=1e-5, rtol=1e-5)
    assert loss.tokens == int((targets != PAD).sum())
    inputs = [vectors, weight] if bias is None else [vectors, weight, bias]
    gradients = [torch.autograd.grad(each / 7, inputs) for each in (loss.smoothed, expected)]
    torch.testing.assert_close(*gradients, atol=1e-5, rtol=1e-5)


def test_both_conventions_by_hand() -> None:
    # Five tokens, epsilon 0.1: the others get 0.025 each, or 0.02 each while the right token keeps 0.92.
    assert mass_on_others(0.1, 5, "others") == 0.1
    assert mass_on_others(0.1, 5, "uniform") == pytest.approx(4 * 0.02)


def test_bfloat16_is_near_float32_and_gives_float32_gradients() -> None:
    vectors, weight, targets = drawn(d=32, vocabulary=50)
    exact = output_loss(vectors, weight, targets, pad=PAD, smoothing=0.1)
    reference = torch.autograd.grad(exact.smoothed, (vectors, weight))
    rounded = output_loss(vectors, weight, targets, pad=PAD, smoothing=0.1, dtype=torch.bfloat16)
    got = torch.autograd.grad(rounded.smoothed, (vectors, weight))
    assert float(rounded.smoothed.detach()) == pytest.approx(float(exact.smoothed.detach()), rel=0.01)
    for ours, theirs in zip(got, reference, strict=True):
        assert ours.dtype == torch.float32
        assert float((ours - theirs).norm() / theirs.norm()) < 0.02


def test_without_gradients_the_loss_is_the_same() -> None:
    vectors, weight, targets = drawn()
    with_gradient = output_loss(vectors, weight, targets, pad=PAD, smoothing=0.1)
    with torch.no_grad():
        without = output_loss(vectors, weight, targets, pad=PAD, smoothing=0.1)
    assert float(without.smoothed) == pytest.approx(float(with_gradient.smoothed.detach()))
    assert not with_gradient.nll.requires_grad


def test_a_batch_of_nothing_but_padding_has_gradients_of_zero() -> None:
    """A process of a group may get one, and the others wait for its gradients."""
    vectors, weight = torch.randn(2, 3, 4, requires_grad=True), torch.randn(7, 4, requires_grad=True)
    loss = output_loss(vectors, weight, torch.zeros(2, 3, dtype=torch.int64), pad=0, smoothing=0.1)
    torch.autograd.backward(loss.smoothed)
    assert (float(loss.smoothed.detach()), int(loss.tokens)) == (0.0, 0)
    assert weight.grad is not None
    assert not bool(weight.grad.any())


def test_sums_on_apples_gpus_are_float32() -> None:
    """They have no float64: with it, training on `mps` failed at its first step."""
    assert backend(torch.device("mps")).sum_dtype == torch.float32
    assert backend(torch.device("cpu")).sum_dtype == backend(torch.device("cuda")).sum_dtype == torch.float64


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("biased", [False, True])
def test_the_rows_of_a_gpu_against_autograd(biased: bool, smoothing: float) -> None:
    generator = torch.Generator().manual_seed(3)
    logits = torch.randn(5, 7, generator=generator, requires_grad=True)
    bias = torch.randn(7, generator=generator, requires_grad=True)
    right, counts = torch.tensor([[1], [6], [0], [3], [3]]), torch.tensor([[1.0], [1.0], [0.0], [1.0], [1.0]])
    target = torch.full((5, 7), smoothing / 6).scatter_(1, right, 1 - smoothing)
    log_p = (logits + bias if biased else logits).log_softmax(dim=1)
    expected = -(counts * target * log_p).sum()
    expected.backward()  # type: ignore[no-untyped-call]
    low, d_bias = logits.detach().clone(), torch.zeros(7)
    sums = row_sums(low, right, counts, bias.detach() if biased else None, smoothing, d_bias if biased else None, True)
    torch.testing.assert_close(sums[0], expected.detach())
    torch.testing.assert_close(sums[1], -(counts * log_p.gather(1, right)).sum().detach())
    torch.testing.assert_close(low * counts, logits.grad)  # rows of padding are left out where they are used
    if biased:
        torch.testing.assert_close(d_bias, bias.grad)
