"""Gradients at captured values: each point against hooks of torch.nn, attributions of layers against Captum's."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from captum.attr import LayerGradientXActivation
from torch import Tensor, nn

from tests.core.hooks.test_sublayer_points import make, of_shapes
from tests.core.tiny import inputs_for, nobody_listens
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
        result = values[name].grad
        assert result is not None, name
        return result

    def of_heads(x: Tensor) -> Tensor:
        return x.view(*x.shape[:2], model.config.num_heads, -1).transpose(1, 2)

    assert logits.grad is not None
    result: dict[str, Tensor] = {"decoder.logits": logits.grad}
    with torch.no_grad(), capture(model, "weights") as seen:
        loss_of(model)
    for address in hook_points(model):
        module, _, point = address.rpartition(".")
        if point in ("queries", "keys", "values"):
            result[address] = of_heads(gradient(f"{module}.w_{point[0]} out"))
        elif point == "head_outputs":
            result[address] = of_heads(gradient(f"{module}.w_o in"))
        elif point == "weights":  # head_output = weights @ values
            to_heads = of_heads(gradient(f"{module}.w_o in"))
            result[address] = to_heads @ of_heads(values[f"{module}.w_v out"]).transpose(-2, -1).detach()
            weights = seen[address]  # weights = softmax(scores)
            inner = result[address] - (result[address] * weights).sum(dim=-1, keepdim=True)
            result[f"{module}.scores"] = weights * inner
        elif point == "attention_output":
            result[address] = gradient(f"{module}.w_o out")
            result[f"{module}.head_results"] = result[address][:, None].expand(-1, model.config.num_heads, -1, -1)
        elif point == "ffn_output":
            result[address] = gradient(f"{module}.w_2 out")
            result[f"{module}.activations"] = gradient(f"{module}.w_2 in")
        elif point == "residual":
            result[address] = gradient(f"{module} out")
        elif point == "embeddings":
            result[address] = gradient(f"{module}.embedding_norm out")
        elif point == "scale":  # out = weight * (x - mean) / scale + bias
            norm, x = model.get_submodule(module), values[f"{module} in"].detach()
            assert isinstance(norm, nn.LayerNorm)
            centred = (x - x.mean(dim=-1, keepdim=True)) * norm.weight.detach()
            variance = x.var(dim=-1, correction=0, keepdim=True) + norm.eps
            result[address] = -(gradient(f"{module} out") * centred).sum(-1, keepdim=True) / variance
    model.zero_grad()
    return result


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
        result = gradients()
    for one, other in zip(result, expected, strict=True):
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

POSITION, TOKEN = 2, 17


class Example:
    """One sentence; the answer is the log-probability of a token, given ids of the target."""

    def __init__(self) -> None:
        self.model = make({})
        self.source, self.target, _ = inputs_for((5,), 4)

    def of_ids(self, target: Tensor) -> Tensor:
        logits = self.model(self.source.expand(len(target), -1), target, None)
        log_p: Tensor = logits[:, POSITION].log_softmax(dim=-1)[:, TOKEN]
        return log_p

    def live(self, address: str) -> tuple[Captured, Tensor]:
        """The captured values, and the gradient of the answers at one point."""
        with capture(self.model, "all", grad=True) as seen:
            answers = self.of_ids(self.target)
        (gradient,) = torch.autograd.grad(answers.sum(), seen[address])
        return seen, gradient


@pytest.mark.parametrize("point", [point for point in POINTS if point != "head_results"])
def test_gradient_x_activation_at_every_point_is_captums(point: Point) -> None:
    """A hook point is a module that Captum takes; `head_results` has a gradient only where a hook replaces it."""
    example = Example()
    points = hook_points(example.model)
    for address in [address for address in points if address.rpartition(".")[2] == point]:
        expected = LayerGradientXActivation(example.of_ids, points[address]).attribute(example.target)
        seen, gradient = example.live(address)
        torch.testing.assert_close(gradient * seen[address], expected, atol=1e-6, rtol=1e-4, equal_nan=True)
    assert nobody_listens(example.model)
