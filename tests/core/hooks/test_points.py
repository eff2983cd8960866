"""Reading attention while the model runs: addresses, shapes, filters, copies, and a clean end."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from tests.core.tiny import inputs_for, nobody_listens, run, tiny_model
from transformer_core.hooks.hook_sites import HEAD_POINTS
from transformer_core.hooks.points import POINTS, Captured, Site, capture, edit, hook_points, run_hooks
from transformer_core.model.transformer import Transformer

CROSS_1 = "decoder.layers.1.cross_attention"


def test_addresses_are_stable() -> None:
    in_attention = (*HEAD_POINTS, "attention_output")
    expected = {"encoder.embeddings", "decoder.embeddings", "decoder.logits"}
    for stack, attentions in (("encoder", ["self_attention"]), ("decoder", ["self_attention", "cross_attention"])):
        for layer in (f"{stack}.layers.{i}" for i in (0, 1)):
            expected |= {f"{layer}.{attention}.{point}" for attention in attentions for point in in_attention}
            for part in (*attentions, "feed_forward"):
                expected |= {f"{layer}.{part}_add_norm.residual", f"{layer}.{part}_add_norm.norm.scale"}
            expected |= {f"{layer}.feed_forward.activations", f"{layer}.feed_forward.ffn_output"}
    assert set(hook_points(tiny_model())) == expected
    other_norms = {f"{stack}.{norm}.scale" for stack in ("encoder", "decoder") for norm in ("norm", "embedding_norm")}
    assert set(hook_points(tiny_model(norm="pre", embedding_norm=True))) == expected | other_norms


def test_points_relate_as_equation_1_says(model: Transformer) -> None:
    with capture(model, POINTS) as seen:
        run(model)
    for base in (address.removesuffix(".weights") for address in seen if address.endswith(".weights")):
        weights, scores = seen[f"{base}.weights"], seen[f"{base}.scores"]
        assert weights.dtype == torch.float32
        torch.testing.assert_close(torch.softmax(scores, -1), weights)
        raw = seen[f"{base}.queries"] @ seen[f"{base}.keys"].transpose(-2, -1) / 3**0.5
        allowed = scores.isfinite()
        torch.testing.assert_close(scores[allowed], raw[allowed])
        torch.testing.assert_close(weights @ seen[f"{base}.values"], seen[f"{base}.head_outputs"])


def test_points_outside_attention_hold_what_the_paper_computes(model: Transformer) -> None:
    """Embedding plus position, max(0, x W_1 + b_1), LayerNorm of the sum, and the logits."""
    source, target, mask = inputs_for((5, 3), 4)
    with torch.no_grad(), capture(model, POINTS) as seen:
        logits = model(source, target, mask)
    inside = "decoder.layers.1.feed_forward"
    w_1, b_1 = model.get_parameter(f"{inside}.w_1.weight"), model.get_parameter(f"{inside}.w_1.bias")
    w_2, b_2 = model.get_parameter(f"{inside}.w_2.weight"), model.get_parameter(f"{inside}.w_2.bias")
    before = seen["decoder.layers.1.cross_attention_add_norm.residual"]
    activations = torch.relu(before @ w_1.T + b_1)
    torch.testing.assert_close(seen["decoder.layers.1.feed_forward.activations"], activations)
    summed = before + activations @ w_2.T + b_2
    normalised = torch.nn.functional.layer_norm(summed, (16,), eps=1e-6)
    last = seen["decoder.layers.1.feed_forward_add_norm.residual"]
    torch.testing.assert_close(last, normalised, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(seen["decoder.logits"], last @ model.embedding.weight.T)
    torch.testing.assert_close(seen["decoder.logits"], logits)
    embedded = model.embedding.weight[target] * 4.0  # sqrt(16)
    torch.testing.assert_close(seen["decoder.embeddings"] - embedded, model.positions(0, 4).expand(2, 4, 16))


def test_embeddings_and_activations_are_read_before_dropout() -> None:
    model = tiny_model(dropout=0.5, activation_dropout=0.5).train()
    with torch.no_grad(), capture(model, "embeddings") as first:
        run(model)
    with torch.no_grad(), capture(model, "embeddings") as second:
        run(model)
    torch.testing.assert_close(first["encoder.embeddings"], second["encoder.embeddings"])


# --- filters ----------------------------------------------------------------------------------------------------------


def test_an_edit_with_other_arguments_is_refused_at_once(model: Transformer) -> None:
    def fine(value: Tensor, *rest: Any) -> Tensor:
        return value

    for wrong in (lambda value: value, lambda value, site, more: value, lambda: None, None):
        with (
            pytest.raises(TypeError, match="takes two arguments, a value and its Site"),
            edit(model, f"{CROSS_1}.weights", wrong),  # type: ignore[arg-type]
        ):
            raise AssertionError("the context must not open")
    with edit(model, f"{CROSS_1}.weights", fine):
        run(model)
    assert nobody_listens(model)


def test_what_is_shown_of_a_capture_is_short(model: Transformer) -> None:
    with capture(model, "all") as seen:
        run(model)
    assert len(repr(seen)) < 300 and f"{len(hook_points(model))} addresses" in repr(seen)
    assert repr(Captured()).startswith("<Captured: 0 addresses")


# --- captures ---------------------------------------------------------------------------------------------------------


def test_capture_changes_nothing_and_keeps_copies(model: Transformer) -> None:
    before = run(model)
    with capture(model, POINTS) as seen:
        during = run(model)
    torch.testing.assert_close(during, before, atol=1e-5, rtol=1e-5)
    assert torch.equal(run(model), before)
    address = f"{CROSS_1}.head_outputs"
    kept = seen[address].clone()
    with capture(model) as _, edit(model, address, lambda value, site: value.zero_()):
        run(model)
    assert torch.equal(seen[address], kept)
    assert bool(kept.any())


def test_a_capture_before_an_edit_in_place_keeps_the_value_that_it_saw(model: Transformer) -> None:
    address = f"{CROSS_1}.head_outputs"
    with (
        capture(model, "head_outputs") as before,
        edit(model, address, lambda value, site: value.zero_()),
        capture(model, "head_outputs") as after,
    ):
        run(model)
    assert bool(before[address].any())
    assert not bool(after[address].any())


def test_calls_keep_every_pass_in_order(model: Transformer) -> None:
    with capture(model, "encoder.1") as seen:
        run(model, (3,))
        run(model, (5, 2))
    (address,) = seen
    assert [call.shape[0] for call in seen.calls[address]] == [1, 2]
    assert seen[address] is seen.calls[address][1]
    assert len(seen) == 1


def test_captured_values_are_cut_off_unless_asked_otherwise(model: Transformer) -> None:
    with capture(model, "cross") as cut, capture(model, "cross", grad=True) as kept:
        model(*inputs_for([5, 3], 4))
    address = f"{CROSS_1}.weights"
    assert not cut[address].requires_grad
    assert kept[address].requires_grad
    early = model.get_parameter("encoder.layers.0.self_attention.w_q.weight")
    (gradient,) = torch.autograd.grad(kept[address].square().sum(), early)
    assert bool(gradient.any())


def test_an_offloaded_value_is_a_copy_on_that_device(model: Transformer) -> None:
    with capture(model, "values", device="cpu") as seen, capture(model, "values", grad=True) as same:
        model(*inputs_for([5, 3], 4))
    for address, value in seen.items():
        assert value.device.type == "cpu"
        assert torch.equal(value, same[address])
        assert value.data_ptr() != same[address].data_ptr()


# --- contexts end cleanly ---------------------------------------------------------------------------------------------


def test_listening_lasts_as_long_as_the_contexts(model: Transformer) -> None:
    point = hook_points(model)[f"{CROSS_1}.weights"]
    assert nobody_listens(model)
    with capture(model):
        assert point.is_active
        with capture(model, "cross"), edit(model, f"{CROSS_1}.weights", lambda value, site: None):
            assert point.is_active
        assert point.is_active
        assert not hook_points(model)[f"{CROSS_1}.values"].is_active
    assert nobody_listens(model)


@pytest.mark.parametrize("inside_the_pass", [False, True])
def test_an_exception_leaves_no_listener(inside_the_pass: bool, model: Transformer) -> None:
    before = run(model)

    def fail(value: Tensor, site: Site) -> None:
        raise ArithmeticError("on purpose")

    with pytest.raises(ArithmeticError), capture(model, POINTS), edit(model, f"{CROSS_1}.keys", fail):
        if not inside_the_pass:
            raise ArithmeticError("on purpose")
        run(model)
    assert nobody_listens(model)
    assert torch.equal(run(model), before)


def test_an_exception_in_one_context_leaves_the_outer_one_alone(model: Transformer) -> None:
    with capture(model, "cross") as outer:
        with pytest.raises(ArithmeticError), capture(model):
            raise ArithmeticError
        run(model)
    assert len(outer) == 2
    assert nobody_listens(model)


def test_a_point_without_an_address_says_so() -> None:
    from transformer_core.hooks.hook_point import hooked
    from transformer_core.model.attention import MultiHeadAttention

    layer = MultiHeadAttention(d_model=4, num_heads=1, d_k=4, d_v=4)
    with pytest.raises(RuntimeError, match="name_hook_points"), hooked([layer.weights], lambda value, site: None):
        run_hooks(layer.weights, torch.zeros(1, 1, 1, 1))
