"""The whole model: against MarianMTModel with copied weights, cached against full decoding, masking, initialisation."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from tests.core.marian import marian_twin
from tests.core.tiny import SPECIAL, drawn_biases_and_norms, inputs_for, padded, run, tiny_model
from transformer_core import ModelConfig, capture
from transformer_core.model.attention import MultiHeadAttention
from transformer_core.model.masks import padding_mask
from transformer_core.model.transformer import Transformer, load_weights
from transformer_core.storage.tensor_files import TensorsOnDemand


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"activation": "swish", "attention_biases": True},
        {"activation": "gelu", "positions": "concatenated"},
        {"positions": "learned", "max_positions": 64},
        {"tie": "target", "output_bias": True},
        {"tie": "none", "attention_biases": True, "positions": "learned", "max_positions": 64, "output_bias": True},
    ],
    ids=lambda options: "-".join(options) or "paper",
)
@torch.no_grad()
def test_against_marian_with_copied_weights(options: dict[str, Any]) -> None:
    model = drawn_biases_and_norms(tiny_model(d_k=4, d_v=4, layer_norm_epsilon=1e-5, **options))
    twin = marian_twin(model)
    source, target, mask = inputs_for([7, 4, 2], 6)
    expected = twin(
        input_ids=source,
        attention_mask=mask[:, 0, 0].long(),
        decoder_input_ids=target,
        decoder_attention_mask=torch.ones_like(target),
        output_attentions=True,
    )
    with capture(model) as maps:
        opened = model(source, target, mask)
    torch.testing.assert_close(opened, expected.logits, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(model(source, target, mask), expected.logits, atol=1e-5, rtol=1e-5)
    for kind, theirs in (
        ("encoder.layers.{}.self_attention", expected.encoder_attentions),
        ("decoder.layers.{}.self_attention", expected.decoder_attentions),
        ("decoder.layers.{}.cross_attention", expected.cross_attentions),
    ):
        for layer, weights in enumerate(theirs):
            ours = maps[f"{kind.format(layer)}.weights"]
            real = mask.expand_as(ours[:, :1]) if kind.startswith("encoder") else torch.ones_like(ours[:, :1]).bool()
            torch.testing.assert_close(ours * real, weights * real, atol=1e-5, rtol=1e-5)


# --- who may look at whom ---------------------------------------------------------------------------------------------


@given(st.integers(0, 7), st.integers(4, 39))
@torch.no_grad()
def test_no_token_depends_on_the_future(position: int, token: int) -> None:
    model = tiny_model()
    source, target, mask = inputs_for([5, 3], 8)
    changed = target.clone()
    changed[:, position] = token
    before, after = model(source, target, mask), model(source, changed, mask)
    assert torch.equal(before[:, :position], after[:, :position])
    if not torch.equal(changed, target):
        assert not torch.allclose(before[:, position], after[:, position])


@given(st.integers(0, 6))
@torch.no_grad()
def test_padding_changes_nothing(more: int) -> None:
    model = tiny_model()
    source, target, mask = inputs_for([5, 3], 4)
    longer = torch.cat((source, torch.full((2, more), SPECIAL.pad)), dim=1)
    out = model(longer, target, padding_mask(longer, SPECIAL.pad))
    torch.testing.assert_close(out, model(source, target, mask), atol=1e-5, rtol=1e-5)
    alone = model(source[1:, :3], target[1:], mask[1:, ..., :3])
    torch.testing.assert_close(alone, out[1:], atol=1e-5, rtol=1e-5)


def test_gradients_of_padded_batches_are_finite() -> None:
    model = tiny_model().train()
    source, target, mask = inputs_for([5, 1], 4)
    mask[1] = False  # even a sentence of nothing but padding
    model(source, target, mask).logsumexp(-1).sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert bool(parameter.grad.isfinite().all()), name


@torch.no_grad()
def test_sentences_longer_than_the_table_of_positions() -> None:
    model = tiny_model(num_layers=1)
    source, target, mask = inputs_for([5], 600)
    with torch.inference_mode():
        model(source, target, mask)
    with torch.enable_grad():  # what grew in inference must not break training
        model.train()(source, target, mask).sum().backward()
    expected = model.embedding(target)[:, 599] + model.positions(599, 1)
    torch.testing.assert_close(model.embed(target[:, 599:], first_position=599)[:, 0], expected)


# --- dropout ----------------------------------------------------------------------------------------------------------


def test_dropout_falls_on_embeddings_and_positions_together() -> None:
    model = tiny_model(d_model=64, dropout=0.25).train()
    ids = padded([200])
    whole = model.eval().embed(ids)
    dropped = model.train().embed(ids)
    gone = dropped == 0
    assert float(gone.float().mean()) == pytest.approx(0.25, abs=0.02)
    torch.testing.assert_close(dropped[~gone], whole[~gone] / 0.75)


# --- weights ----------------------------------------------------------------------------------------------------------


def test_initialisation_is_glorot_on_the_fused_projections() -> None:
    config = ModelConfig(vocab_size=3000, d_model=64, d_ff=128, num_layers=2, num_heads=4, d_k=8, d_v=24)
    torch.manual_seed(0)
    model = Transformer(config)
    q, v = 4 * 8, 4 * 24

    def uniform_up_to(weight: Tensor, fan_in: int, fan_out: int) -> None:
        bound = math.sqrt(6 / (fan_in + fan_out))
        assert 0.98 * bound < float(weight.detach().abs().max()) <= bound
        assert float(weight.detach().std()) == pytest.approx(bound / math.sqrt(3), rel=0.05)
        assert float(weight.detach().mean()) == pytest.approx(0, abs=0.05 * bound)

    for name, module in model.named_modules():
        if isinstance(module, MultiHeadAttention):
            cross = name.endswith("cross_attention")
            uniform_up_to(module.w_q.weight, 64, q if cross else q + q + v)
            uniform_up_to(module.w_k.weight, 64, q + v if cross else q + q + v)
            uniform_up_to(module.w_v.weight, 64, q + v if cross else q + q + v)
            uniform_up_to(module.w_o.weight, v, 64)
    for stack in (model.encoder, model.decoder):
        for layer in stack.layers:
            feed_forward = layer.get_submodule("feed_forward")
            for w in (feed_forward.get_submodule("w_1"), feed_forward.get_submodule("w_2")):
                uniform_up_to(w.get_parameter("weight"), 64, 128)
                assert not bool(w.get_parameter("bias").any())
    embedding = model.embedding.weight.detach()
    assert float(embedding.std()) == pytest.approx(1 / 8, rel=0.01)
    # Times sqrt(d_model), an embedding enters the model with variance 1.
    assert float(model.embedding(torch.arange(3000)[None]).detach().std()) == pytest.approx(1.0, rel=0.01)


def test_the_seed_decides_the_weights() -> None:
    one, same, other = tiny_model(seed=1), tiny_model(seed=1), tiny_model(seed=2)
    assert torch.equal(one.embedding.weight, same.embedding.weight)
    assert not torch.equal(one.embedding.weight, other.embedding.weight)


def test_state_dict_holds_parameters_only_and_one_shared_matrix(model: Transformer) -> None:
    assert list(model.state_dict()) == [name for name, _ in model.named_parameters()]
    large = [name for name, p in model.named_parameters() if p.shape == (40, 16)]
    assert large == ["embedding.weight"]
    # No bias in attention, biases in the feed-forward network (Sections 3.2.2 and 3.3).
    assert not [name for name in model.state_dict() if "attention.w_" in name and name.endswith("bias")]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"positions": "concatenated", "norm": "pre", "attention_biases": True},
        {"positions": "learned", "max_positions": 600, "tie": "none", "output_bias": True},
        {"positions": "none", "tie": "target", "source_vocab_size": 50},
        {"attention": "additive"},
        {"window": 2},
    ],
    ids=lambda options: "-".join(options) or "paper",
)
def test_from_weights_is_a_model_that_was_built_and_then_overwritten(options: dict[str, Any]) -> None:
    model, other = (drawn_biases_and_norms(tiny_model(seed=seed, **options)) for seed in (1, 2))
    weights = {name: p.detach().half() for name, p in model.named_parameters()}
    load_weights(other, weights)
    before = torch.get_rng_state()
    loaded = Transformer.from_weights(model.config, weights).eval()
    assert torch.equal(torch.get_rng_state(), before)
    assert [name for name, _ in loaded.named_modules()] == [name for name, _ in other.named_modules()]
    assert loaded.embedding.weight is loaded.output_weight or loaded.projection is not None
    for name, expected in [*other.named_parameters(), *other.named_buffers()]:
        tensor = {**dict(loaded.named_parameters()), **dict(loaded.named_buffers())}[name]
        assert (tensor.dtype, tensor.device) == (torch.float32, expected.device), name
        assert tensor.is_leaf and tensor.requires_grad == expected.requires_grad, name
        assert torch.equal(tensor, expected), name
        assert name not in weights or torch.equal(tensor, weights[name].float()), name
    assert list(loaded.state_dict()) == list(other.state_dict()) == list(weights)
    assert torch.equal(run(loaded, (5, 3), 530), run(other, (5, 3), 530)), "beyond the first rows of the sinusoids"
    with capture(loaded) as ours, capture(other) as theirs:
        assert torch.equal(run(loaded), run(other))
    assert list(ours) == list(theirs)


def test_from_weights_shares_nothing_with_them(model: Transformer) -> None:
    copy = Transformer.from_weights(model.config, model.state_dict())
    with torch.no_grad():
        copy.embedding.weight.zero_()
    assert bool(model.embedding.weight.any())


def test_from_weights_lets_go_of_each_weight_that_it_has_copied(model: Transformer) -> None:
    """Or opening a model would take half as much memory again."""
    halves = {name: weight.half() for name, weight in model.state_dict().items()}
    expected, alive = dict(halves), weakref.WeakSet(halves.values())
    most = len(alive)
    held = TensorsOnDemand.draining(halves)
    assert held.shapes == {name: tuple(weight.shape) for name, weight in expected.items()}
    copy = Transformer.from_weights(model.config, held)
    assert halves == {} and len(alive) == most  # `expected` still has them
    assert all(torch.equal(weight, expected[name].float()) for name, weight in copy.state_dict().items())
    expected.clear()
    assert len(alive) == 0
    with pytest.raises(KeyError):
        held["embedding.weight"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda w: w.pop("embedding.weight"), "embedding.weight"),
        (lambda w: w.update(surplus=torch.zeros(1)), "surplus"),
        (lambda w: w.update({"embedding.weight": torch.zeros(41, 16)}), r"\(41, 16\).*\(40, 16\)"),
    ],
    ids=["missing", "unknown", "shape"],
)
def test_weights_that_do_not_fit_are_named(change: Callable[[dict[str, Tensor]], object], said: str) -> None:
    model = tiny_model()
    weights = {name: torch.zeros_like(p) for name, p in model.named_parameters()}
    before = model.embedding.weight.detach().clone()
    change(weights)
    with pytest.raises(ValueError, match=said):
        Transformer.from_weights(model.config, weights)
    with pytest.raises(ValueError, match=said):
        load_weights(model, weights)
    assert torch.equal(model.embedding.weight, before)
