"""Label smoothing by hand, against torch, and the chunked form against autograd of the readable one."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.core.training.readable_loss import smoothed_cross_entropy
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
    # Probabilities 1/2, 1/4, 1/4; the right token is the first; epsilon 0.1 leaves 0.9 and gives 0.05 to each other.
    logits = torch.tensor([[math.log(2.0), 0.0, 0.0]])
    smoothed, nll = smoothed_cross_entropy(logits, torch.tensor([0]), 0.1)
    assert float(nll) == pytest.approx(math.log(2))
    assert float(smoothed) == pytest.approx(0.9 * math.log(2) + 0.05 * math.log(4) + 0.05 * math.log(4))


def test_readable_form_is_torchs_with_another_epsilon() -> None:
    """torch spreads epsilon over all V classes, the paper's code over the V - 1 wrong ones."""
    torch.manual_seed(0)
    logits, targets = torch.randn(40, 13), torch.randint(0, 13, (40,))
    smoothed, nll = smoothed_cross_entropy(logits, targets, 0.1)
    expected = F.cross_entropy(logits, targets, label_smoothing=0.1 * 13 / 12, reduction="sum")
    torch.testing.assert_close(smoothed, expected, atol=1e-4, rtol=1e-5)
    torch.testing.assert_close(nll, F.cross_entropy(logits, targets, reduction="sum"), atol=1e-4, rtol=1e-5)


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.3])
@pytest.mark.parametrize(("rows", "length", "vocabulary"), [(3, 5, 11), (2, 9, 50), (1, 2, 3)])
def test_the_uniform_convention_is_torchs(epsilon: float, rows: int, length: int, vocabulary: int) -> None:
    vectors, weight, targets = drawn(rows, length, 8, vocabulary)
    smoothing = mass_on_others(epsilon, vocabulary, "uniform")
    loss = output_loss(vectors, weight, targets, pad=PAD, smoothing=smoothing)
    reference = nn.CrossEntropyLoss(label_smoothing=epsilon, ignore_index=PAD, reduction="sum")
    logits = (vectors @ weight.T).flatten(0, 1)
    expected = reference(logits, targets.flatten())
    torch.testing.assert_close(loss.smoothed, expected)
    readable, _ = smoothed_cross_entropy(logits[targets.flatten() != PAD], targets[targets != PAD], smoothing)
    torch.testing.assert_close(readable, expected)
    got = torch.autograd.grad(loss.smoothed, (vectors, weight))
    for ours, theirs in zip(got, torch.autograd.grad(expected, (vectors, weight)), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


def test_both_conventions_by_hand() -> None:
    # Five tokens, epsilon 0.1: the others get 0.025 each, or 0.02 each while the right token keeps 0.92.
    assert mass_on_others(0.1, 5, "others") == 0.1
    assert mass_on_others(0.1, 5, "uniform") == pytest.approx(4 * 0.02)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("chunk", [1, 4, 512])
def test_chunked_loss_and_gradients_against_autograd(
    smoothing: float, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loss_module, "_CPU_CHUNK", chunk)
    vectors, weight, targets = drawn()
    loss = output_loss(vectors, weight, targets, pad=PAD, smoothing=smoothing)
    got = torch.autograd.grad(loss.smoothed / 7, (vectors, weight))

    real = targets != PAD
    expected, nll = smoothed_cross_entropy(vectors[real] @ weight.T, targets[real], smoothing)
    references = torch.autograd.grad(expected / 7, (vectors, weight))
    torch.testing.assert_close(loss.smoothed, expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(loss.nll, nll, atol=1e-5, rtol=1e-5)
    assert loss.tokens == int(real.sum())
    for ours, reference in zip(got, references, strict=True):
        torch.testing.assert_close(ours, reference, atol=1e-5, rtol=1e-5)


def test_more_rows_than_a_chunk_against_torch() -> None:
    torch.manual_seed(1)
    vectors, weight = torch.randn(4, 300, 8, requires_grad=True), torch.randn(50, 8, requires_grad=True)
    targets = torch.randint(1, 50, (4, 300))
    loss = output_loss(vectors, weight, targets, pad=PAD, smoothing=0.1)
    got = torch.autograd.grad(loss.smoothed, (vectors, weight))
    logits = (vectors @ weight.T).flatten(0, 1)
    reference = F.cross_entropy(logits, targets.flatten(), label_smoothing=0.1 * 50 / 49, reduction="sum")
    expected = torch.autograd.grad(reference, (vectors, weight))
    torch.testing.assert_close(loss.smoothed, reference, rtol=1e-5, atol=1e-3)
    for ours, theirs in zip(got, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


def test_padding_counts_for_nothing() -> None:
    vectors, weight, targets = drawn()
    loss = output_loss(vectors, weight, targets, pad=PAD, smoothing=0.1)
    (gradient,) = torch.autograd.grad(loss.smoothed, vectors)
    assert not bool(gradient[targets == PAD].any())
    assert bool((gradient[targets != PAD].abs().sum(dim=-1) > 0).all())
    wider = torch.cat((targets, torch.full((3, 4), PAD)), dim=1)
    longer = torch.cat((vectors, torch.randn(3, 4, 8)), dim=1)
    again = output_loss(longer, weight, wider, pad=PAD, smoothing=0.1)
    assert float(again.smoothed.detach()) == pytest.approx(float(loss.smoothed.detach()))
    assert again.tokens == loss.tokens


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


def test_a_bias_of_the_output_projection_against_torch() -> None:
    vectors, weight, targets = drawn()
    bias = torch.randn(11, requires_grad=True)
    loss = output_loss(vectors, weight, targets, pad=PAD, smoothing=0.1, bias=bias)
    got = torch.autograd.grad(loss.smoothed, (vectors, weight, bias))
    logits = (vectors @ weight.T + bias).flatten(0, 1)
    reference = F.cross_entropy(
        logits, targets.flatten(), label_smoothing=0.1 * 11 / 10, reduction="sum", ignore_index=PAD
    )
    torch.testing.assert_close(loss.smoothed, reference)
    for ours, theirs in zip(got, torch.autograd.grad(reference, (vectors, weight, bias)), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


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
    expected.backward()
    low, d_bias = logits.detach().clone(), torch.zeros(7)
    sums = row_sums(low, right, counts, bias.detach() if biased else None, smoothing, d_bias if biased else None, True)
    torch.testing.assert_close(sums[0], expected.detach())
    torch.testing.assert_close(sums[1], -(counts * log_p.gather(1, right)).sum().detach())
    torch.testing.assert_close(low * counts, logits.grad)  # rows of padding are left out where they are used
    if biased:
        torch.testing.assert_close(d_bias, bias.grad)
