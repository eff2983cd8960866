"""Attention and its fast twin against equation 1 by hand, loops, torch.nn.MultiheadAttention and each other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.core.torch_twins import copy_attention
from transformer_core.hooks.points import HookPoint
from transformer_core.model.attention import MultiHeadAttention, attention_scores, attention_weights
from transformer_core.model.fast_attention import FastAttention
from transformer_core.model.masks import causal_mask

Array = npt.NDArray[np.float64]


TWINS = (MultiHeadAttention, FastAttention)


def attention(
    d_k: int = 3, d_v: int = 5, of: type[MultiHeadAttention] = FastAttention, **options: Any
) -> MultiHeadAttention:
    torch.manual_seed(0)
    return of(d_model=16, num_heads=4, d_k=d_k, d_v=d_v, **options)


def listen(point: HookPoint) -> list[Tensor]:
    """Let a hook that changes nothing force the open path; the values that it sees."""
    seen: list[Tensor] = []
    point.register_forward_hook(lambda module, given, value: seen.append(value))
    return seen


def by_hand(layer: MultiHeadAttention, x: Tensor, memory: Tensor, mask: Tensor | None) -> tuple[Array, Array]:
    """Section 3.2.2 in loops: head_i from its own W_i, then Concat(head_1, ..., head_h) W^O. Output and weights."""
    heads = layer.num_heads
    parts = [w.weight.detach().double().numpy() for w in (layer.w_q, layer.w_k, layer.w_v)]
    w_q, w_k, w_v = (np.split(w.T, heads, axis=1) for w in parts)
    w_o = layer.w_o.weight.detach().double().numpy().T
    rows, queries, keys = x.shape[0], x.shape[1], memory.shape[1]
    allowed = np.ones((rows, heads, queries, keys), dtype=bool)
    if mask is not None:
        allowed = np.broadcast_to(mask.numpy(), allowed.shape)
    out = np.zeros((rows, queries, w_o.shape[1]))
    weights = np.zeros((rows, heads, queries, keys))
    for row in range(rows):
        x_row, m_row = x[row].double().numpy(), memory[row].double().numpy()
        concat = []
        for head in range(heads):
            q, k, v = x_row @ w_q[head], m_row @ w_k[head], m_row @ w_v[head]
            for i in range(queries):
                exponentials = [
                    math.exp(float(q[i] @ k[j]) / math.sqrt(q.shape[1])) if allowed[row, head, i, j] else 0.0
                    for j in range(keys)
                ]
                total = sum(exponentials)
                weights[row, head, i] = [e / total if total else 0.0 for e in exponentials]
            concat.append(weights[row, head] @ v)
        out[row] = np.concatenate(concat, axis=1) @ w_o
    return out, weights


def test_equation_1_worked_by_hand() -> None:
    # One query (1, 0) against the keys (1, 0) and (0, 1): the scores are 1 / sqrt(2) and 0.
    queries, keys = torch.tensor([[[[1.0, 0.0]]]]), torch.eye(2)[None, None]
    scores = attention_scores(queries, keys, None)
    assert scores.flatten().tolist() == pytest.approx([0.7071068, 0.0])
    # e^0.7071068 = 2.0281150, so the weights are 2.0281150 / 3.0281150 and 1 / 3.0281150.
    assert attention_weights(scores).flatten().tolist() == pytest.approx([0.6697616, 0.3302384])


@pytest.mark.parametrize(("d_k", "d_v"), [(3, 5), (4, 4), (7, 1)])
@torch.no_grad()
def test_heads_of_any_width_against_loops(d_k: int, d_v: int) -> None:
    layer = attention(d_k, d_v, MultiHeadAttention)
    x, memory = torch.randn(2, 3, 16), torch.randn(2, 6, 16)
    mask = torch.rand(2, 1, 3, 6) < 0.6
    seen = listen(layer.weights)
    out, weights = by_hand(layer, x, memory, mask)
    np.testing.assert_allclose(layer(x, memory, mask).numpy(), out, atol=1e-5)
    np.testing.assert_allclose(seen[0].numpy(), weights, atol=1e-6)


@pytest.mark.parametrize("of", TWINS)
@pytest.mark.parametrize("cross", [False, True])
@torch.no_grad()
def test_against_torch_multihead_attention(cross: bool, of: type[MultiHeadAttention]) -> None:
    layer = attention(4, 4, of)
    reference = nn.MultiheadAttention(16, 4, batch_first=True)
    copy_attention(reference, layer)
    x = torch.randn(3, 5, 16)
    memory = torch.randn(3, 7, 16) if cross else x
    padding = torch.arange(memory.shape[1])[None] >= torch.tensor([[memory.shape[1]], [4], [2]])
    causal = torch.zeros(5, memory.shape[1]) if cross else torch.triu(torch.ones(5, 5), diagonal=1)
    expected, expected_weights = reference(
        x, memory, memory, key_padding_mask=padding, attn_mask=causal.bool(), average_attn_weights=False
    )
    mask = ~padding[:, None, None, :] & ~causal.bool()[None, None]
    torch.testing.assert_close(layer(x, memory, mask), expected, atol=1e-5, rtol=1e-5)
    seen = listen(layer.weights)
    torch.testing.assert_close(layer(x, memory, mask), expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(seen[0], expected_weights, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("point", ["queries", "keys", "values", "head_outputs"])
@torch.no_grad()
def test_listening_elsewhere_keeps_the_fused_kernel(point: str, monkeypatch: pytest.MonkeyPatch) -> None:
    layer = attention()
    listen(getattr(layer, point))
    monkeypatch.setattr(F, "scaled_dot_product_attention", lambda q, k, v, **rest: torch.full_like(q[..., :1], 7.0))
    layer.w_o = nn.Linear(4, 1, bias=False)
    layer.w_o.weight.fill_(1.0)
    assert layer(torch.randn(1, 2, 16), torch.randn(1, 2, 16), None).flatten().tolist() == [28.0, 28.0]


@pytest.mark.parametrize("opened", [False, True])
@torch.no_grad()
def test_a_query_that_may_look_nowhere_gives_zero(opened: bool) -> None:
    layer = attention()
    if opened:
        listen(layer.weights)
    mask = torch.ones(2, 1, 3, 4, dtype=torch.bool)
    mask[1, :, 2] = False
    out = layer(torch.randn(2, 3, 16), torch.randn(2, 4, 16), mask)
    assert bool(out.isfinite().all())
    assert out[1, 2].tolist() == [0.0] * 16
    assert bool((out[1, 1] != 0).any())


@pytest.mark.parametrize("name", ["w_q", "w_k", "w_v"])
def test_hooks_on_projections_are_heard(name: str) -> None:
    layer, x = attention(), torch.randn(1, 2, 16)
    heard: list[Tensor] = []
    before = layer(x, x, None)
    layer.get_submodule(name).register_forward_hook(lambda module, given, value: heard.append(value))
    torch.testing.assert_close(layer(x, x, None), before)
    assert len(heard) == 1


@pytest.mark.parametrize("opened", [False, True])
@torch.no_grad()
def test_beams_that_share_keys_agree_with_copied_keys(opened: bool) -> None:
    layer = attention()
    if opened:
        listen(layer.weights)
    beams, sentences = 3, 2
    keys, values = layer.project_keys_and_values(torch.randn(sentences, 5, 16))
    queries = layer.project_queries(torch.randn(sentences * beams, 1, 16))
    mask = torch.tensor([[True] * 5, [True, True, False, False, False]])[:, None, None, :]
    shared = layer.attend(queries, keys, values, mask)
    own_keys, own_values, own_mask = (x.repeat_interleave(beams, 0) for x in (keys, values, mask))
    copied = layer.attend(queries, own_keys, own_values, own_mask)
    torch.testing.assert_close(shared, copied, atol=1e-6, rtol=1e-5)


@torch.no_grad()
def test_hooks_see_one_row_for_each_beam() -> None:
    layer = attention()
    scores, weights, outputs = (listen(getattr(layer, name)) for name in ("scores", "weights", "head_outputs"))
    keys, values = layer.project_keys_and_values(torch.randn(2, 5, 16))
    queries = layer.project_queries(torch.randn(6, 1, 16))
    layer.attend(queries, keys, values, None)
    assert scores[0].shape == weights[0].shape == outputs[0].shape == (6, 4, 1, 5)
    # Row 4 is beam 1 of sentence 1.
    expected = torch.softmax(queries[4] @ keys[1].transpose(1, 2) / math.sqrt(3), dim=-1)
    torch.testing.assert_close(weights[0][4], expected)


@torch.no_grad()
def test_bfloat16_keeps_float32_weights_that_sum_to_one() -> None:
    layer = attention(4, 4)
    seen = listen(layer.weights)
    x = torch.randn(2, 6, 16)
    exact = layer(x, x, None)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rounded = layer(x, x, None)
    assert rounded.dtype == torch.bfloat16
    assert seen[1].dtype == torch.float32
    torch.testing.assert_close(seen[1].sum(dim=-1), torch.ones(2, 4, 6), atol=1e-5, rtol=0)
    torch.testing.assert_close(rounded.float(), exact, atol=0.05, rtol=0.05)


@pytest.mark.parametrize("kind", ["none", "keys", "pairs", "nowhere"])
@pytest.mark.parametrize("options", [{}, {"causal": True}, {"biases": True, "scaled": False}], ids=str)
@pytest.mark.parametrize("cross", [False, True])
def test_the_fast_twin_has_the_same_outputs_and_gradients(cross: bool, options: dict[str, Any], kind: str) -> None:
    """With projections of one input or two, and where a query may look nowhere."""
    fast, readable = (attention(of=of, **options) for of in (FastAttention, MultiHeadAttention))
    readable.load_state_dict(fast.state_dict())
    x, memory = torch.randn(3, 4, 16, requires_grad=True), torch.randn(3, 6, 16)
    memory = memory if cross else x
    mask: Tensor | None = None
    if kind != "none":
        mask = torch.rand((3, 1, 1, memory.shape[1]) if kind == "keys" else (1, 1, 4, memory.shape[1])) < 0.6
        mask[..., 0] = True
    if kind == "nowhere":
        assert mask is not None
        mask[..., 2, :] = False
    ours, theirs = fast(x, memory, mask), readable(x, memory, mask)
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
    with torch.no_grad():
        torch.testing.assert_close(fast(x, memory, mask), theirs, atol=1e-5, rtol=1e-5)
    gradients = [
        torch.autograd.grad(out.square().sum(), [x, *layer.parameters()])
        for layer, out in ((fast, ours), (readable, theirs))
    ]
    for one, other in zip(*gradients, strict=True):
        assert bool(one.isfinite().all())
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("of", TWINS)
def test_causal_attention_hides_later_positions(of: type[MultiHeadAttention]) -> None:
    """As the mask does, beside a mask of keys, and for queries that follow cached ones."""
    masked, plain = attention(of=of, causal=True).eval(), attention(of=of).eval()
    for x in (torch.randn(2, 5, 16), torch.randn(2, 5, 16, requires_grad=True)):
        expected = plain(x, x, causal_mask(5))
        torch.testing.assert_close(masked(x, x, None), expected)
        keys = torch.tensor([[True] * 5, [False] + [True] * 4])[:, None, None]
        torch.testing.assert_close(masked(x, x, keys), plain(x, x, causal_mask(5) & keys), atol=1e-6, rtol=1e-5)
        for last in (1, 2):
            torch.testing.assert_close(masked(x[:, -last:], x, None), expected[:, -last:], atol=1e-6, rtol=1e-5)


def test_nan_in_scores_is_not_taken_for_a_mask() -> None:
    nan, none = math.nan, -math.inf
    weights = attention_weights(torch.tensor([[none, none], [none, nan], [nan, 0.0], [math.inf, none], [none, 1.0]]))
    assert weights[[0, 4]].tolist() == [[0.0, 0.0], [0.0, 1.0]]
    assert bool(weights[1:4].isnan().any(dim=-1).all())
