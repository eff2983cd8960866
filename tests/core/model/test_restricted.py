"""Restricted and additive attention: blocks and portions against dense twins, torch.nn and loops; memory and time."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from tests.core.model.test_attention import listen
from tests.core.tiny import inputs_for, tiny_model
from tests.core.torch_twins import copy_attention
from transformer_core import ConfigError, ModelConfig, Transformer, capture
from transformer_core.model import additive
from transformer_core.model.additive import AdditiveAttention
from transformer_core.model.restricted import RestrictedAttention, window_mask
from transformer_core.model.transformer import count_parameters

LENGTHS = st.integers(1, 70)
WINDOWS = st.integers(1, 40)


def restricted(window: int, causal: bool, d_k: int = 3, d_v: int = 5, seed: int = 0) -> RestrictedAttention:
    torch.manual_seed(seed)
    return RestrictedAttention(d_model=16, num_heads=4, d_k=d_k, d_v=d_v, window=window, causal=causal)


def keys_of(lengths: list[int], longest: int) -> Tensor:
    return (torch.arange(longest) < torch.tensor(lengths)[:, None])[:, None, None]


def test_window_mask_by_hand() -> None:
    assert window_mask(4, 4, 1, causal=False).int().tolist() == [[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]]
    assert window_mask(4, 4, 2, causal=True).int().tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1]]
    assert window_mask(1, 4, 2, causal=True).int().tolist() == [[0, 1, 1, 1]]


@given(LENGTHS, WINDOWS, st.booleans(), st.lists(st.integers(0, 70), min_size=1, max_size=3))
def test_blocks_agree_with_the_dense_twin(length: int, window: int, causal: bool, lengths: list[int]) -> None:
    """Outputs and gradients, with padding and rows of nothing but padding; in training and without gradients."""
    layer = restricted(window, causal)
    lengths = [min(n, length) for n in lengths]
    mask = keys_of(lengths, length)
    x = torch.randn(len(lengths), length, 16, requires_grad=True)
    weights = [x, *layer.parameters()]
    blocks = layer(x, x, mask)
    got = torch.autograd.grad(blocks.square().sum(), weights)
    with torch.no_grad():
        torch.testing.assert_close(layer(x, x, mask), blocks, atol=1e-5, rtol=1e-4)
    listen(layer.weights)
    dense = layer(x, x, mask)
    torch.testing.assert_close(blocks, dense, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(got, torch.autograd.grad(dense.square().sum(), weights), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("window", [1, 5, 16, 30])
@torch.no_grad()
def test_against_torch_with_a_band(window: int, causal: bool) -> None:
    layer = restricted(window, causal, d_k=4, d_v=4)
    reference = nn.MultiheadAttention(16, 4, batch_first=True)
    copy_attention(reference, layer)
    x = torch.randn(2, 50, 16)
    hidden = torch.tensor([[abs(i - j) > window or (causal and j > i) for j in range(50)] for i in range(50)])
    expected, _ = reference(x, x, x, attn_mask=hidden)
    torch.testing.assert_close(layer(x, x, None), expected, atol=1e-5, rtol=1e-5)


def test_a_mask_of_pairs_is_refused() -> None:
    layer, x = restricted(2, causal=False), torch.randn(1, 6, 16)
    with pytest.raises(ValueError, match=r"takes a mask of keys, \(B, 1, 1, n\), not \(1, 1, 6, 6\)"):
        layer(x, x, torch.ones(1, 1, 6, 6, dtype=torch.bool))


# --- memory and time --------------------------------------------------------------------------------------------------


class Largest(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """The size of the largest tensor that any operation made."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.numbers = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = function(*args, **(kwargs or {}))
        for value in out if isinstance(out, tuple | list) else (out,):
            if isinstance(value, Tensor):
                self.numbers = max(self.numbers, value.untyped_storage().nbytes() // value.element_size())
        return out


def largest(length: int, training: bool, **options: Any) -> int:
    """Largest tensor of a whole model on one pair of sentences, forwards and backwards."""
    model = tiny_model(vocab_size=8, **options)
    source, target, mask = torch.full((1, 3), 5), torch.full((1, length), 6), torch.ones(1, 1, 1, 3, dtype=torch.bool)
    long_mask = torch.ones(1, 1, 1, length, dtype=torch.bool)
    model.embed(target)  # the table of positions grows here
    with Largest() as seen, torch.set_grad_enabled(training):
        out = model.encode(target, long_mask).sum() + model.decode(target, model.encode(source, mask), mask).sum()
        if training:
            torch.autograd.backward(out)
    return int(seen.numbers)


@pytest.mark.parametrize("training", [False, True])
def test_no_tensor_of_all_pairs_is_ever_made(training: bool) -> None:
    length = 1024
    assert largest(length, training, window=4) < length * length // 4
    assert largest(length, training, window=4) < 1.1 * 2 * largest(length // 2, training, window=4)
    assert largest(length, training) >= length * length  # full attention, for comparison


# --- in the model -----------------------------------------------------------------------------------------------------


@torch.no_grad()
def test_captured_weights_are_of_all_pairs_and_zero_outside_of_the_window() -> None:
    model = tiny_model(window=2)
    batch = inputs_for([9, 4], 8)
    plain = model(*batch)
    with capture(model) as seen:
        torch.testing.assert_close(model(*batch), plain, atol=1e-5, rtol=1e-5)
    encoder, decoder = seen["encoder.layers.1.self_attention.weights"], seen["decoder.layers.1.self_attention.weights"]
    assert encoder.shape == (2, 4, 9, 9)
    for weights, causal in ((encoder[:1], False), (decoder, True)):
        near = window_mask(weights.shape[2], weights.shape[3], 2, causal)
        assert not bool(weights[..., ~near].any())
        assert bool((weights[..., near] > 0).all())
        torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))
    assert bool((seen["decoder.layers.1.cross_attention.weights"][0] > 0).all())  # sees the whole source


def test_one_has_to_choose_between_a_window_and_additive_scores() -> None:
    with pytest.raises(ConfigError, match="window is 3, but must be 0 where attention is additive"):
        ModelConfig(window=3, attention="additive")
    assert not any(isinstance(module, RestrictedAttention) for module in Transformer(tiny_model().config).modules())


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
