"""Activation checkpointing changes memory and nothing else; hooks fire once."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from tests.core.tiny import inputs_for, tiny_model
from tests.core.training.runs import SHORT, same, train, weights_of
from transformer_core.data import Corpus
from transformer_core.hooks.points import Site, capture, edit, hook_points
from transformer_core.model.transformer import Transformer
from transformer_core.training.activation_checkpointing import checkpoint_activations

POINT = "decoder.layers.1.cross_attention.head_outputs"


def model(recomputed: bool) -> Transformer:
    made = tiny_model(dropout=0.3, num_layers=3).train()
    if recomputed:
        checkpoint_activations([*made.encoder.layers, *made.decoder.layers])
    return made


def gradients(trained: Transformer) -> tuple[Tensor, dict[str, Tensor]]:
    """Output and gradients of one pass with dropout."""
    torch.manual_seed(7)
    out = trained(*inputs_for([5, 3], 4))
    trained.zero_grad()
    torch.autograd.backward(out.square().sum())
    return out, {name: p.grad.clone() for name, p in trained.named_parameters() if p.grad is not None}


def test_gradients_are_bit_equal_and_names_stay() -> None:
    plain, recomputed = model(False), model(True)
    assert list(recomputed.state_dict()) == list(plain.state_dict())
    (out, expected), (same_out, got) = gradients(plain), gradients(recomputed)
    assert torch.equal(out, same_out)
    assert same(expected, got)


def test_less_is_kept_for_the_gradient() -> None:
    def kept(trained: Transformer) -> int:
        sizes: dict[int, int] = {}

        def pack(value: Tensor) -> Tensor:
            sizes[value.data_ptr()] = value.numel()
            return value

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda value: value):
            trained(*inputs_for([40, 40], 40))
        return sum(sizes.values())

    assert kept(model(True)) < kept(model(False)) / 4


def test_a_capture_sees_every_value_once() -> None:
    plain, recomputed = model(False), model(True)
    with capture(plain) as expected:
        _, of_plain = gradients(plain)
    with capture(recomputed) as seen:
        _, got = gradients(recomputed)
    assert set(seen.calls) == set(expected.calls)
    assert {len(values) for values in seen.calls.values()} == {1}
    for address, value in seen.items():
        assert torch.equal(value, expected[address])
    assert same(got, of_plain)
    torch.testing.assert_close(got, gradients(plain)[1], atol=1e-4, rtol=1e-3)  # a capture changes no gradient


def test_an_edit_is_called_once_and_is_part_of_the_gradient() -> None:
    calls = 0

    def shrink(value: Tensor, site: Site) -> Tensor:
        nonlocal calls
        calls += 1
        return value * (0.5 / calls)  # a second call would do something else

    plain, recomputed = model(False), model(True)
    with edit(plain, POINT, shrink):
        _, expected = gradients(plain)
    calls = 0
    with edit(recomputed, POINT, shrink):
        _, got = gradients(recomputed)
    assert calls == 1
    assert same(expected, got)
    assert not same(gradients(plain)[1], got)


def test_who_listens_only_after_the_forward_pass_hears_nothing() -> None:
    recomputed = model(True)
    _, expected = gradients(recomputed)
    torch.manual_seed(7)
    recomputed.zero_grad()
    loss = recomputed(*inputs_for([5, 3], 4)).square().sum()
    with capture(recomputed) as seen:
        torch.autograd.backward(loss)
        assert hook_points(recomputed)["decoder.layers.1.cross_attention.weights"].is_active
    assert not seen.calls
    assert not any(point.is_active for point in hook_points(recomputed).values())
    assert same(expected, {name: p.grad for name, p in recomputed.named_parameters() if p.grad is not None})


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_whole_training_is_bit_equal(corpus: Corpus, tmp_path: Path, precision: str) -> None:
    config = SHORT.replace(precision=precision, steps=4)
    plain = train(corpus, tmp_path / "plain", config, dropout=0.3)
    recomputed = train(corpus, tmp_path / "recomputed", config.replace(activation_checkpointing=True), dropout=0.3)
    assert same(weights_of(plain), weights_of(recomputed))
