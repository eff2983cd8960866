"""Gradients at captured values, against hooks of torch.nn."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.core.hooks.test_sublayer_points import make, of_shapes
from tests.core.tiny import inputs_for
from tests.core.torch_twins import module_values
from transformer_core.hooks.points import Point, Site, capture, edit, hook_points
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
    with module_values(model, nn.Linear, nn.LayerNorm, nn.Identity, AddAndNorm, live=True) as values:
        logits = model(*inputs_for((5, 3), 4))
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


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("point", ["weights", "residual", "scale", "embeddings", "logits"])
def test_one_point_alone_is_enough(point: Point, frozen: bool) -> None:
    """Kernels that would skip the value give way to the readable path; weights may be frozen."""
    model = make({})
    expected = plain_gradients(model)
    model.requires_grad_(not frozen)
    with capture(model, point, grad=True) as seen:
        torch.autograd.backward(loss_of(model))
    there = {address: expected[address] for address in seen}
    torch.testing.assert_close(dict(seen.grad), there, atol=1e-4, rtol=1e-3)


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
