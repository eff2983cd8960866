"""Additive attention by hand and against loops; portions against the dense twin; what it keeps in memory."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from tests.core.model.test_attention import listen
from tests.core.model.test_restricted import Largest
from tests.core.tiny import tiny_model
from transformer_core.model import additive
from transformer_core.model.additive import AdditiveAttention
from transformer_core.model.transformer import count_parameters


def attention(seed: int = 0) -> AdditiveAttention:
    torch.manual_seed(seed)
    layer = AdditiveAttention(d_model=16, num_heads=4, d_k=3, d_v=5)
    torch.nn.init.normal_(layer.score_vector)
    return layer


@torch.no_grad()
def test_against_loops() -> None:
    """Bahdanau's e = v . tanh(W s + U h) for every head, query and key, one at a time."""
    layer = attention()
    x, memory = torch.randn(2, 4, 16), torch.randn(2, 6, 16)
    mask = torch.rand(2, 1, 4, 6) < 0.7
    mask[..., 0] = True
    concat = torch.zeros(2, 4, 4, 5)
    for row in range(2):
        for head in range(4):
            w, u = layer.w_q.weight[3 * head : 3 * head + 3], layer.w_k.weight[3 * head : 3 * head + 3]
            values = memory[row] @ layer.w_v.weight[5 * head : 5 * head + 5].T
            for i in range(4):
                weights = [
                    math.exp(float(layer.score_vector[head] @ torch.tanh(w @ x[row, i] + u @ memory[row, j])))
                    if bool(mask[row, 0, i, j])
                    else 0.0
                    for j in range(6)
                ]
                concat[row, i, head] = sum(weight * values[j] for j, weight in enumerate(weights)) / sum(weights)
    expected = concat.flatten(2) @ layer.w_o.weight.T
    torch.testing.assert_close(layer(x, memory, mask), expected, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("inner_values", [1, 300, 2**22])
@pytest.mark.parametrize("of_pairs", [False, True])
def test_portions_agree_with_the_dense_twin(of_pairs: bool, inner_values: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outputs and gradients, with a query that may look nowhere."""
    monkeypatch.setattr(additive, "_INNER_VALUES", inner_values)
    layer = attention()
    x = torch.randn(2, 7, 16, requires_grad=True)
    mask = torch.rand(2, 1, 7 if of_pairs else 1, 7) < 0.6
    mask[0, :, 0] = False
    weights = [x, *layer.parameters()]
    portions = layer(x, x, mask)
    got = torch.autograd.grad(portions.square().sum(), weights)
    with torch.no_grad():
        torch.testing.assert_close(layer(x, x, mask), portions)
    listen(layer.weights)
    dense = layer(x, x, mask)
    torch.testing.assert_close(portions, dense, atol=1e-6, rtol=1e-5)
    for ours, theirs in zip(got, torch.autograd.grad(dense.square().sum(), weights), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)
        assert bool(ours.isfinite().all())


def test_inner_values_of_all_pairs_are_neither_made_nor_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(additive, "_INNER_VALUES", 4 * 4 * 64 * 3)  # four queries at a time
    layer, x = attention(), torch.randn(1, 64, 16, requires_grad=True)
    kept: dict[int, Tensor] = {}

    def keep(value: Tensor) -> Tensor:
        kept[value.untyped_storage().data_ptr()] = value
        return value

    with Largest() as seen, torch.autograd.graph.saved_tensors_hooks(keep, lambda value: value):
        out = layer(x, x, None).sum()
        forward = sum(value.untyped_storage().nbytes() // 4 for value in kept.values())
        out.backward()
    assert seen.numbers <= 4 * 64 * 64  # no more than the scores of every head, which are all that full attention needs
    assert forward < 4 * 64 * 64 * 3 / 2  # of the inner values of all pairs only a part


def test_a_vector_for_each_head_is_all_that_is_new() -> None:
    ours, plain = tiny_model(attention="additive"), tiny_model()
    new = {name for name, _ in ours.named_parameters()} - {name for name, _ in plain.named_parameters()}
    assert all(name.endswith("attention.score_vector") for name in new)
    assert len(new) == 6
    assert count_parameters(ours) - count_parameters(plain) == 6 * 4 * 3
    bound = math.sqrt(6 / (3 + 1))
    for name in new:
        assert 0.3 * bound < float(ours.get_parameter(name).detach().abs().max()) <= bound
