"""Gradients at captured values: each point against hooks of torch.nn, attributions of layers against Captum's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from captum.attr import LayerConductance, LayerGradientXActivation, LayerIntegratedGradients
from torch import Tensor, nn

from tests.core.hooks.test_sublayer_points import make, of_shapes
from tests.core.tiny import inputs_for, nobody_listens
from transformer_core.hooks.edits import patch
from transformer_core.hooks.hook_sites import POINTS
from transformer_core.hooks.points import Captured, Point, Site, capture, edit, hook_points
from transformer_core.model.layers import AddAndNorm
from transformer_core.model.transformer import Transformer

CROSS_1 = "decoder.layers.1.cross_attention"


def loss_of(model: Transformer) -> Tensor:
    """Every logit counts, each by another factor."""
    logits = model(*inputs_for((5, 3), 4))
    factors = torch.randn(logits.shape, generator=torch.Generator().manual_seed(3))
    loss: Tensor = (logits * factors).sum()
    return loss


def plain_gradients(model: Transformer) -> dict[str, Tensor]:
    """Gradient at every hook point, from values that hooks of torch.nn found at plain modules around it."""
    values: dict[str, Tensor] = {}
    handles = []
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear | nn.LayerNorm | nn.Identity | AddAndNorm):

            def keep(_module: Any, given: tuple[Tensor, ...], out: Tensor, name: str = name) -> None:
                values[f"{name} in"], values[f"{name} out"] = given[0], out
                for value in (given[0], out):
                    if value.requires_grad:
                        value.retain_grad()

            handles.append(module.register_forward_hook(keep))
    logits = model(*inputs_for((5, 3), 4))
    for handle in handles:
        handle.remove()
    logits.retain_grad()
    torch.autograd.backward((logits * torch.randn(logits.shape, generator=torch.Generator().manual_seed(3))).sum())

    def gradient(name: str) -> Tensor:
        found = values[name].grad
        assert found is not None, name
        return found

    def of_heads(x: Tensor) -> Tensor:
        return x.view(*x.shape[:2], model.config.num_heads, -1).transpose(1, 2)

    assert logits.grad is not None
    found: dict[str, Tensor] = {"decoder.logits": logits.grad}
    with torch.no_grad(), capture(model, "weights") as seen:
        loss_of(model)
    for address in hook_points(model):
        module, _, point = address.rpartition(".")
        if point in ("queries", "keys", "values"):
            found[address] = of_heads(gradient(f"{module}.w_{point[0]} out"))
        elif point == "head_outputs":
            found[address] = of_heads(gradient(f"{module}.w_o in"))
        elif point == "weights":  # head_output = weights @ values
            to_heads = of_heads(gradient(f"{module}.w_o in"))
            found[address] = to_heads @ of_heads(values[f"{module}.w_v out"]).transpose(-2, -1).detach()
            weights = seen[address]  # weights = softmax(scores)
            inner = found[address] - (found[address] * weights).sum(dim=-1, keepdim=True)
            found[f"{module}.scores"] = weights * inner
        elif point == "attention_output":
            found[address] = gradient(f"{module}.w_o out")
            found[f"{module}.head_results"] = found[address][:, None].expand(-1, model.config.num_heads, -1, -1)
        elif point == "ffn_output":
            found[address] = gradient(f"{module}.w_2 out")
            found[f"{module}.activations"] = gradient(f"{module}.w_2 in")
        elif point == "residual":
            found[address] = gradient(f"{module} out")
        elif point == "embeddings":
            found[address] = gradient(f"{module}.embedding_norm out")
        elif point == "scale":  # out = weight * (x - mean) / scale + bias
            norm, x = model.get_submodule(module), values[f"{module} in"].detach()
            assert isinstance(norm, nn.LayerNorm)
            centred = (x - x.mean(dim=-1, keepdim=True)) * norm.weight.detach()
            variance = x.var(dim=-1, correction=0, keepdim=True) + norm.eps
            found[address] = -(gradient(f"{module} out") * centred).sum(-1, keepdim=True) / variance
    model.zero_grad()
    return found


@of_shapes
def test_gradients_at_every_point_are_those_of_plain_modules(options: dict[str, Any]) -> None:
    model = make(options)
    expected = plain_gradients(model)
    assert set(expected) == set(hook_points(model))
    with capture(model, "all", grad=True) as seen:
        loss = loss_of(model)
    assert set(seen) == set(expected)
    by_autograd = torch.autograd.grad(loss, list(seen.values()))
    with capture(model, "all", grad=True) as seen:
        torch.autograd.backward(loss_of(model))
    assert set(seen.grad) == set(seen)
    for (address, value), gradient in zip(seen.items(), by_autograd, strict=True):
        torch.testing.assert_close(gradient, expected[address], atol=1e-4, rtol=1e-3, msg=address)
        torch.testing.assert_close(seen.grad[address], gradient, msg=address)
        assert value.grad is seen.grad[address]


@pytest.mark.parametrize("point", ["weights", "residual", "scale"])
def test_one_point_alone_is_enough(point: Point) -> None:
    """Kernels that would skip the value give way to the readable path."""
    model = make({})
    expected = plain_gradients(model)
    with capture(model, point, grad=True) as seen:
        torch.autograd.backward(loss_of(model))
    for address in seen:
        torch.testing.assert_close(seen.grad[address], expected[address], atol=1e-4, rtol=1e-3)


def test_frozen_weights_do_not_stop_gradients() -> None:
    model = make({})
    expected = plain_gradients(model)
    model.requires_grad_(False)
    for point in ("embeddings", "weights", "logits"):
        with capture(model, point, grad=True) as seen:
            torch.autograd.backward(loss_of(model))
        for address in seen:
            torch.testing.assert_close(seen.grad[address], expected[address], atol=1e-4, rtol=1e-3)


def test_weights_have_the_same_gradients_with_a_live_capture(model: Transformer) -> None:
    def gradients() -> list[Tensor | None]:
        model.zero_grad()
        torch.autograd.backward(loss_of(model))
        return [parameter.grad for parameter in model.parameters()]

    expected = gradients()
    with capture(model, "all", grad=True):
        found = gradients()
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-3)


def test_a_later_edit_in_place_leaves_the_captured_value_and_its_gradient(model: Transformer) -> None:
    def halve(value: Tensor, site: Site) -> Tensor:
        return value.mul_(0.5)

    address = f"{CROSS_1}.attention_output"
    with capture(model, "attention_output") as plain:
        loss_of(model)
    with capture(model, "attention_output", grad=True) as seen, edit(model, address, halve):
        torch.autograd.backward(loss_of(model))
    torch.testing.assert_close(seen[address], plain[address])
    w_o = model.get_submodule(f"{CROSS_1}.w_o")
    outputs: list[Tensor] = []

    def keep(_module: Any, _given: Any, out: Tensor) -> Tensor:
        out.retain_grad()
        outputs.append(out)
        return out * 0.5

    handle = w_o.register_forward_hook(keep)
    torch.autograd.backward(loss_of(model))
    handle.remove()
    torch.testing.assert_close(seen.grad[address], outputs[0].grad)


def test_gradients_of_several_passes(model: Transformer) -> None:
    address = f"{CROSS_1}.weights"
    with capture(model, "cross.2", grad=True) as seen:
        first, second = loss_of(model), loss_of(model)
    torch.autograd.backward(first + 3 * second)
    one, three = seen.grad.calls[address]
    torch.testing.assert_close(3 * one, three)


def test_no_gradient_says_why(model: Transformer) -> None:
    with pytest.raises(ValueError, match=r"outside of torch.no_grad"), torch.no_grad(), capture(model, grad=True):
        loss_of(model)
    with capture(model) as seen:
        torch.autograd.backward(loss_of(model))
    with pytest.raises(KeyError, match="nothing was captured"):
        seen.grad[f"{CROSS_1}.weights"]


# --- Captum -----------------------------------------------------------------------------------------------------------

STEPS, POSITION, TOKEN = 8, 2, 17
LAYERS: list[tuple[str, str, bool]] = [  # hook point, plain module with the same value, whether as its input
    (f"{CROSS_1}.attention_output", f"{CROSS_1}.w_o", False),
    ("decoder.layers.0.feed_forward.activations", "decoder.layers.0.feed_forward.w_2", True),
    ("decoder.layers.0.feed_forward.ffn_output", "decoder.layers.0.feed_forward.w_2", False),
    ("decoder.layers.0.self_attention_add_norm.residual", "decoder.layers.0.self_attention_add_norm.norm", False),
    ("decoder.layers.1.cross_attention_add_norm.residual", "decoder.layers.1.cross_attention_add_norm", False),
]
at_layers = pytest.mark.parametrize(("address", "module", "as_input"), LAYERS)


class Example:
    """One sentence; the answer is the log-probability of a token, given ids or embeddings of the target."""

    def __init__(self) -> None:
        self.model = make({})
        self.source, self.target, _ = inputs_for((5,), 4)
        self.baseline = torch.full_like(self.target, 4)
        self.of_ids(self.target)
        with torch.no_grad(), capture(self.model, "embeddings") as seen:
            self.of_ids(self.target)
        self.embedded = seen["decoder.embeddings"]

    def of_ids(self, target: Tensor) -> Tensor:
        logits = self.model(self.source.expand(len(target), -1), target, None)
        log_p: Tensor = logits[:, POSITION].log_softmax(dim=-1)[:, TOKEN]
        return log_p

    def of_embeddings(self, embedded: Tensor) -> Tensor:
        with edit(self.model, "decoder.embeddings", lambda value, site: embedded):
            return self.of_ids(self.target.expand(len(embedded), -1))

    def live(self, address: str, run: Callable[[], Tensor]) -> tuple[Captured, Tensor]:
        """The captured values of a run, and the gradient of its answers at one point."""
        with capture(self.model, "all", grad=True) as seen:
            answers = run()
        (gradient,) = torch.autograd.grad(answers.sum(), seen[address])
        return seen, gradient


@at_layers
def test_gradient_x_activation_is_captums(address: str, module: str, as_input: bool) -> None:
    example = Example()
    captum = LayerGradientXActivation(example.of_ids, example.model.get_submodule(module))
    expected = captum.attribute(example.target, attribute_to_layer_input=as_input)
    seen, gradient = example.live(address, lambda: example.of_ids(example.target))
    torch.testing.assert_close(gradient * seen[address], expected, atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("point", [point for point in POINTS if point != "head_results"])
def test_gradient_x_activation_at_every_point_is_captums(point: Point) -> None:
    """A hook point is a module that Captum takes; `head_results` has a gradient only where a hook replaces it."""
    example = Example()
    points = hook_points(example.model)
    for address in [address for address in points if address.rpartition(".")[2] == point]:
        expected = LayerGradientXActivation(example.of_ids, points[address]).attribute(example.target)
        seen, gradient = example.live(address, lambda: example.of_ids(example.target))
        torch.testing.assert_close(gradient * seen[address], expected, atol=1e-6, rtol=1e-4, equal_nan=True)
    assert nobody_listens(example.model)


@at_layers
def test_integrated_gradients_at_a_layer_are_captums(address: str, module: str, as_input: bool) -> None:
    example = Example()
    captum = LayerIntegratedGradients(example.of_ids, example.model.get_submodule(module))
    expected = captum.attribute(
        example.target,
        baselines=example.baseline,
        n_steps=STEPS,
        method="gausslegendre",
        attribute_to_layer_input=as_input,
    )
    with torch.no_grad(), capture(example.model, "all") as ends:
        example.of_ids(example.baseline)
        example.of_ids(example.target)
    start, end = ends.calls[address]
    nodes, weights = np.polynomial.legendre.leggauss(STEPS)
    total = torch.zeros_like(end)
    for at, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        between = start + float(at) * (end - start)
        with edit(example.model, address, patch(between)):
            total += float(weight) * example.live(address, lambda: example.of_ids(example.target))[1]
    torch.testing.assert_close(total * (end - start), expected, atol=1e-6, rtol=1e-4)


@at_layers
def test_conductance_is_captums(address: str, module: str, as_input: bool) -> None:
    example = Example()
    start = torch.zeros_like(example.embedded)
    captum = LayerConductance(example.of_embeddings, example.model.get_submodule(module))
    expected = captum.attribute(
        example.embedded, baselines=start, n_steps=STEPS, method="riemann_trapezoid", attribute_to_layer_input=as_input
    )
    path = torch.linspace(0, 1, STEPS + 1)[:, None, None] * example.embedded
    seen, gradient = example.live(address, lambda: example.of_embeddings(path))
    steps = seen[address].diff(dim=0)  # along the path
    torch.testing.assert_close((gradient[:-1] * steps).sum(dim=0, keepdim=True), expected, atol=1e-5, rtol=1e-3)
