"""Scores, softmax and projections of a CPU against their readable twins."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_core.cpu.few_queries import attend
from transformer_core.cpu.open_attention import attention_bias, masked_scores, softmax_under
from transformer_core.model.attention import MultiHeadAttention, attention_scores, attention_weights
from transformer_core.model.masks import causal_mask
from transformer_core.model.projections import project_fused


@pytest.mark.parametrize("kind", ["none", "keys", "pairs", "nowhere"])
def test_scores_and_softmax_agree_with_their_twins(kind: str) -> None:
    queries, keys = torch.randn(3, 2, 4, 5, requires_grad=True), torch.randn(3, 2, 6, 5)
    mask: Tensor | None = None
    if kind != "none":
        mask = torch.rand((3, 1, 1, 6) if kind == "keys" else (1, 1, 4, 6)) < 0.6
        mask[..., 0] = True
    if kind == "nowhere":
        assert mask is not None
        mask[..., 2, :] = False
    scores = masked_scores(queries, keys, mask, 1 / math.sqrt(5))
    torch.testing.assert_close(scores, attention_scores(queries, keys, mask))
    fast, full = softmax_under(mask, scores), attention_weights(scores)
    torch.testing.assert_close(fast, full, atol=0, rtol=0)
    assert bool((fast.sum(-1) == 0).any()) == (kind == "nowhere")
    gradients = [torch.autograd.grad((w**2).sum(), queries, retain_graph=True)[0] for w in (fast, full)]
    assert bool(gradients[0].isfinite().all())
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize("of_itself", [False, True])
def test_projections_together_agree_with_one_by_one(of_itself: bool, biases: bool) -> None:
    torch.manual_seed(3)
    layer = MultiHeadAttention(d_model=16, num_heads=4, d_k=3, d_v=5, biases=biases)
    x = torch.randn(2, 5, 16)
    memory = x if of_itself else torch.randn(2, 7, 16)
    with torch.no_grad():
        one_by_one = layer.w_q(x), layer.w_k(memory), layer.w_v(memory)
    for together, alone in zip(project_fused(x, memory, (layer.w_q, layer.w_k, layer.w_v)), one_by_one, strict=True):
        torch.testing.assert_close(together, alone, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("padded", [False, True])
def test_few_queries_agree_with_the_fused_kernel(padded: bool) -> None:
    queries, keys, values = torch.randn(6, 2, 4), torch.randn(6, 5, 4), torch.randn(6, 5, 3)
    forbidden = torch.zeros(6, 1, 5)
    forbidden[3:, :, 4:] = -math.inf
    given = forbidden if padded else None
    expected = F.scaled_dot_product_attention(queries, keys, values, attn_mask=given, scale=0.3)
    torch.testing.assert_close(attend(queries, keys, values, 0.3, given), expected)


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
