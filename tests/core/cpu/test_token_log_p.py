"""Kernels for CPUs against torch: log-probabilities in blocks, attention of few queries, dropout."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.core.analysis.models import SOURCE, TARGET, make_translator
from transformer_core import Tokenizer, edit
from transformer_core.analysis.teacher_forced_run import generated_log_p, log_probabilities, teacher_forced_run
from transformer_core.cpu import token_log_p as module
from transformer_core.cpu.dropout import Dropout, keep_mask
from transformer_core.cpu.few_queries import attend
from transformer_core.cpu.token_log_p import token_log_p


@pytest.mark.parametrize("block", [1, 40, 10_000])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_blocks_give_log_softmax(block: int, bias: bool, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK_VALUES", block)
    torch.manual_seed(0)
    x, weight, tokens = torch.randn(7, 12), torch.randn(31, 12).to(dtype), torch.tensor([0, 30, 5, 5, 9, 1, 2])
    added = torch.randn(31) if bias else None
    if added is not None:
        added[20:] = -torch.inf  # tokens that are never generated, as in Marian's models
        tokens = tokens.clamp(max=19)
    expected = F.linear(x.double(), weight.double(), None if added is None else added.double()).log_softmax(1)
    result = token_log_p(x, weight, added, tokens)
    assert result.dtype == torch.float32
    torch.testing.assert_close(result.double(), expected[range(7), tokens], atol=1e-5, rtol=0)


@pytest.mark.parametrize("scale", [1.0, 50.0, 1e4])
@pytest.mark.parametrize("lost", [False, True])
def test_improbable_tokens(scale: float, lost: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Down to probabilities that float32 cannot hold, and to 0."""
    monkeypatch.setattr(module, "BLOCK_VALUES", 60)
    torch.manual_seed(1)
    x, weight, tokens = scale * torch.randn(9, 4), torch.randn(20, 4), torch.arange(9)
    bias = torch.zeros(20)
    bias[3] = -torch.inf if lost else 0.0
    expected = F.linear(x.double(), weight.double(), bias.double()).log_softmax(1)[range(9), tokens]
    assert (expected < -88).any() == (lost or scale > 1)
    torch.testing.assert_close(
        token_log_p(x, weight, bias, tokens).double(), expected, atol=max(1e-5, 1e-6 * scale), rtol=1e-5
    )


def test_an_edit_of_the_logits_still_acts(tokenizer: Tokenizer) -> None:
    translator = make_translator(tokenizer)
    run, model = teacher_forced_run(translator, SOURCE, TARGET), translator.model
    states = torch.randn(3, len(run.outputs), translator.config.d_model)
    with torch.no_grad():
        plain = log_probabilities(model.logits(states), run.outputs)
        torch.testing.assert_close(generated_log_p(model, states, run.outputs), plain, atol=1e-5, rtol=0)
        with edit(model, "decoder.logits", lambda value, site: 2 * value):
            doubled = log_probabilities(2 * F.linear(states, model.output_weight), run.outputs)
            torch.testing.assert_close(generated_log_p(model, states, run.outputs), doubled, atol=1e-5, rtol=0)


@pytest.mark.parametrize("padded", [False, True])
def test_few_queries_agree_with_the_fused_kernel(padded: bool) -> None:
    queries, keys, values = torch.randn(6, 2, 4), torch.randn(6, 5, 4), torch.randn(6, 5, 3)
    forbidden = torch.zeros(6, 1, 5)
    forbidden[3:, :, 4:] = -math.inf
    given = forbidden if padded else None
    expected = F.scaled_dot_product_attention(queries, keys, values, attn_mask=given, scale=0.3)
    torch.testing.assert_close(attend(queries, keys.transpose(1, 2), values, 0.3, given), expected)


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
