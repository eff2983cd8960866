"""Reading attention while the model runs: addresses, shapes, filters, copies, a clean end, and the list of points."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.core.tiny import inputs_for, nobody_listens, run, tiny_model
from transformer_core import Transformer, describe_hook_points
from transformer_core.hooks.hook_sites import HEAD_POINTS, POINT_INFO
from transformer_core.hooks.points import POINTS, Captured, Site, capture, edit, hook_points, run_hooks

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


def test_embeddings_and_activations_are_read_before_dropout() -> None:
    model = tiny_model(dropout=0.5, activation_dropout=0.5).train()
    with torch.no_grad(), capture(model, "embeddings") as first:
        run(model)
    with torch.no_grad(), capture(model, "embeddings") as second:
        run(model)
    torch.testing.assert_close(first["encoder.embeddings"], second["encoder.embeddings"])


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
        model(*inputs_for((2, 1), 2))
    assert not any(value.requires_grad for value in seen.values()), "a capture keeps no graph"
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


def test_calls_keep_every_pass_in_order(model: Transformer) -> None:
    with capture(model, "encoder.1") as seen:
        run(model, (3,))
        run(model, (5, 2))
    (address,) = seen
    assert [call.shape[0] for call in seen.calls[address]] == [1, 2]
    assert seen[address] is seen.calls[address][1]
    assert len(seen) == 1


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


DOCS = Path(__file__).resolve().parents[3] / "docs" / "hooks.md"


def test_told_shapes_are_those_of_the_values(model: Transformer) -> None:
    c, (rows, source, target) = model.config, (2, 5, 4)
    numbers = {"batch": rows, "heads": c.num_heads, "d_k": c.d_k, "d_v": c.d_v, "d_ff": c.d_ff, "1": 1}
    numbers |= {"d_model": c.d_model, "vocab_size": c.vocab_size}
    with capture(model, POINTS) as seen:
        run(model, (source, 3), target)
    assert set(seen) == set(hook_points(model))
    for address, value in seen.items():
        assert len(seen.calls[address]) == 1
        site = hook_points(model)[address].site
        assert site is not None and (site.kind is None) == ("attention" not in address)
        of_stack = source if address.startswith("encoder") else target
        keys = target if site.kind == "decoder" else source
        lengths = numbers | {"queries": of_stack, "positions": of_stack, "keys": keys}
        assert tuple(value.shape) == tuple(lengths[name] for name in site.shape), address
        if site.point == "weights":
            assert site.meaning.endswith("float32")
            assert value.dtype == torch.float32


def test_every_point_is_a_line(model: Transformer) -> None:
    lines = describe_hook_points(model).splitlines()
    names, points = [line.split()[0] for line in lines], hook_points(model)
    with capture(model, "all") as seen:
        run(model, (5, 3), 4)
    assert [seen.place(name).address for name in names] == list(points)
    (line,) = (line for line in lines if line.startswith("cross.2.values "))
    assert "(batch, heads=4, keys, d_v=5)" in line
    assert line.endswith("V of every head")


def test_the_page_has_the_same_table() -> None:
    text = DOCS.read_text(encoding="utf-8")
    for point, info in POINT_INFO.items():
        assert f"| `{point}` | {info.where} | ({', '.join(info.shape)}) | {info.meaning} |" in text
    assert set(POINT_INFO) == set(POINTS)
