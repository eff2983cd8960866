"""Points around each sub-layer, against hooks of torch.nn on the modules before and after them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.core.tiny import drawn_biases_and_norms, inputs_for, nobody_listens, run, tiny_model
from tests.core.torch_twins import module_values
from transformer_core import Transformer, zero
from transformer_core.decoding.incremental import IncrementalDecoder
from transformer_core.hooks.points import Point, Rows, capture, edit, hook_points, row_context
from transformer_core.model.layer_norm import LayerNorm

NEW: tuple[Point, ...] = ("head_results", "attention_output", "ffn_output", "scale")
SHAPES: list[dict[str, Any]] = [
    {},
    {"norm": "pre", "attention_biases": True},
    {"attention": "additive"},
    {"window": 2, "embedding_norm": True},
]
of_shapes = pytest.mark.parametrize("options", SHAPES, ids=str)


def make(options: dict[str, Any]) -> Transformer:
    return drawn_biases_and_norms(tiny_model(**options)).eval()


@of_shapes
def test_the_points_hold_what_plain_modules_pass_on(options: dict[str, Any]) -> None:
    model = make(options)
    with module_values(model, nn.Linear, nn.LayerNorm) as plain:
        run(model)
    with capture(model, "all") as seen:
        run(model)
    norms = 0
    for address, value in seen.items():
        module, _, point = address.rpartition(".")
        if point == "attention_output":
            torch.testing.assert_close(value, plain[f"{module}.w_o out"])
            results, w_o = seen[f"{module}.head_results"], model.get_submodule(f"{module}.w_o")
            assert isinstance(w_o, nn.Linear)
            bias = 0.0 if w_o.bias is None else w_o.bias.detach()
            torch.testing.assert_close(results.sum(dim=1) + bias, value)
            for head, part in enumerate(torch.split(w_o.weight.detach(), 5, dim=1)):  # d_v columns of each head
                torch.testing.assert_close(results[:, head], F.linear(seen[f"{module}.head_outputs"][:, head], part))
        elif point == "ffn_output":
            torch.testing.assert_close(value, plain[f"{module}.w_2 out"])
        elif point == "activations":
            torch.testing.assert_close(value, plain[f"{module}.w_2 in"])
        elif point == "scale":
            norms += 1
            variance = plain[f"{module} in"].var(dim=-1, correction=0, keepdim=True)
            torch.testing.assert_close(value, (variance + 1e-6).sqrt(), atol=1e-6, rtol=1e-5)
    assert norms == sum(isinstance(module, nn.LayerNorm) for module in model.modules())


@pytest.mark.parametrize("options", [*SHAPES, {"residual": False}], ids=str)
def test_a_residual_is_the_sum_of_what_came_before_and_the_output(options: dict[str, Any]) -> None:
    model = make(options)
    with capture(model, {"embeddings", "residual", "attention_output", "ffn_output", "scale"}) as seen:
        run(model)
    for stack in ("encoder", "decoder"):
        x = seen[f"{stack}.embeddings"]
        for address in (a for a in seen if a.startswith(stack) and a.endswith("residual")):
            add_norm = address.removesuffix(".residual")
            sublayer = add_norm.removesuffix("_add_norm")
            output = seen[f"{sublayer}.{'ffn_output' if 'feed_forward' in sublayer else 'attention_output'}"]
            summed = x + output if model.config.residual else output
            if model.config.norm == "post":
                norm = model.get_submodule(f"{add_norm}.norm")
                assert isinstance(norm, nn.LayerNorm)
                centred = summed - summed.mean(dim=-1, keepdim=True)
                summed = (centred / seen[f"{add_norm}.norm.scale"] * norm.weight + norm.bias).detach()
            x = seen[address]
            torch.testing.assert_close(x, summed, atol=1e-5, rtol=1e-5)


@of_shapes
def test_edits_of_the_points_are_edits_of_the_plain_modules(options: dict[str, Any]) -> None:
    """Half of the value, at each point and by a hook of torch.nn, or by a changed W^O."""
    model = make(options)
    before = run(model)
    for address in hook_points(model):
        module, _, point = address.rpartition(".")
        if point not in NEW:
            continue
        with edit(model, address, lambda value, site: value / 2):
            edited = run(model)
        if point == "head_results":
            w_o = model.get_submodule(f"{module}.w_o")
            handle = w_o.register_forward_pre_hook(lambda _module, given: (given[0] / 2,))
        elif point == "scale":
            norm = model.get_submodule(module)
            assert isinstance(norm, LayerNorm)
            beta = norm.bias
            handle = norm.register_forward_hook(lambda _module, _given, out, beta=beta: (out - beta) * 2 + beta)
        else:
            name = "w_o" if point == "attention_output" else "w_2"
            plain = model.get_submodule(f"{module}.{name}")
            handle = plain.register_forward_hook(lambda _module, _given, out: out / 2)
        torch.testing.assert_close(edited, run(model), atol=1e-5, rtol=1e-5)
        handle.remove()
        assert not torch.allclose(edited, before, atol=1e-5), address
    assert torch.equal(run(model), before)


@of_shapes
def test_every_point_is_the_same_step_by_step_as_in_one_pass(options: dict[str, Any]) -> None:
    model = make(options)
    source, target, mask = inputs_for((5,), 4)
    with torch.no_grad(), capture(model, NEW) as whole:
        model(source, target, mask)
    with torch.no_grad(), capture(model, NEW) as steps:
        decoder = IncrementalDecoder(model, model.encode(source, mask), mask, beams=1)
        for position in range(4):
            with row_context(Rows(query_offset=position)):
                decoder.step(target[:, position : position + 1])
    joined = {address: torch.cat(calls, dim=-2) for address, calls in steps.calls.items()}
    torch.testing.assert_close(joined, dict(whole), atol=1e-5, rtol=1e-5)


def test_nothing_is_computed_when_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without hooks each LayerNorm is one kernel, W^O one product."""
    model = make({})
    monkeypatch.setattr(F, "layer_norm", counted := Counted(F.layer_norm))
    run(model)
    assert counted.calls == 10  # two layers: two in the encoder's, three in the decoder's
    with capture(model, "scale") as seen:
        run(model)
    assert counted.calls == 10 and len(seen) == 10


class Counted:
    """A function that counts its calls."""

    def __init__(self, function: Any) -> None:
        self.function, self.calls = function, 0

    def __call__(self, *given: Any, **named: Any) -> Any:
        self.calls += 1
        return self.function(*given, **named)


def test_results_of_heads_never_skip_a_hook_of_w_o(model: Transformer) -> None:
    base = "decoder.layers.1.cross_attention"
    handle = model.get_submodule(f"{base}.w_o").register_forward_hook(lambda _module, _given, out: 2 * out)
    twice = run(model)
    with capture(model, "head_results") as seen:
        assert torch.equal(run(model), twice)
    handles = [point.register_forward_hook(lambda _module, _given, out: None) for point in model.modules()]
    torch.testing.assert_close(run(model), twice, atol=1e-5, rtol=1e-5)
    for each in handles:
        each.remove()
    with edit(model, f"{base}.head_results", zero), pytest.raises(ValueError, match=r"W.O has hooks of its own"):
        run(model)
    handle.remove()
    with capture(model, "head_results") as plain:
        run(model)
    torch.testing.assert_close(seen[f"{base}.head_results"], plain[f"{base}.head_results"])
    assert nobody_listens(model)


def test_weights_in_float16_have_results_too() -> None:
    from transformer_core.model.transformer import Transformer

    plain = make({})
    weights = {name: tensor.half() for name, tensor in plain.state_dict().items()}
    half = Transformer.from_weights(plain.config, weights, half=True).eval()
    whole = Transformer.from_weights(plain.config, weights).eval()
    with capture(half, NEW) as result, capture(whole, NEW) as expected:
        run(half)
        run(whole)
    torch.testing.assert_close(dict(result), dict(expected), atol=1e-5, rtol=1e-5)
