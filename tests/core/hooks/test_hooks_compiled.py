"""Hooks and captures on a compiled model: hooks set before and after compiling both see all layers.

A model that tested PyTorch's dictionaries of hooks would capture nothing here, and say nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.core.tiny import inputs_for, tiny_model
from transformer_core import Transformer, capture, edit, hook_points, zero

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("fresh_compiler")]
CROSS_0 = "decoder.layers.0.cross_attention"


def compiled(model: Transformer, backend: str = "eager") -> Callable[..., Tensor]:
    """The backend decides how fast a graph runs, not what is in it, so the quickest to build will do."""
    function: Callable[..., Tensor] = torch.compile(model, backend=backend)
    return function


def listen_to_weights(model: Transformer, part: str, seen: dict[str, Tensor]) -> list[Any]:
    def hook(name: str) -> Callable[[Any, Any, Tensor], None]:
        def keep(module: Any, given: Any, value: Tensor) -> None:
            seen[name] = value

        return keep

    points = {name: point for name, point in hook_points(model).items() if part in name and name.endswith(".weights")}
    return [point.register_forward_hook(hook(name)) for name, point in points.items()]


def assert_native_hooks_see_all(model: Transformer, backend: str) -> None:
    """Encoder hooks before compiling, decoder hooks after compiling, encoder-decoder hooks after the first pass."""
    batch = inputs_for([5, 3], 4)
    expected = model(*batch)
    with capture(model) as eager:
        model(*batch)
    seen: dict[str, Tensor] = {}
    handles = listen_to_weights(model, "encoder.layers", seen)
    fast = compiled(model, backend)
    handles += listen_to_weights(model, "decoder.layers.0.self", seen)
    torch.testing.assert_close(fast(*batch), expected, atol=1e-5, rtol=1e-5)
    assert len(seen) == model.config.num_layers + 1
    handles += listen_to_weights(model, "cross", seen)
    for layer in range(1, model.config.num_layers):
        handles += listen_to_weights(model, f"decoder.layers.{layer}.self", seen)
    seen.clear()
    torch.testing.assert_close(fast(*batch), expected, atol=1e-5, rtol=1e-5)
    assert len(seen) == 3 * model.config.num_layers
    torch.testing.assert_close(seen, dict(eager), atol=1e-5, rtol=1e-5)
    for handle in handles:
        handle.remove()
    seen.clear()
    torch.testing.assert_close(fast(*batch), expected, atol=1e-5, rtol=1e-5)
    assert not seen


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@torch.no_grad()
def test_native_hooks_in_a_model_of_six_layers(backend: str) -> None:
    assert_native_hooks_see_all(tiny_model(num_layers=6), backend)


@torch.no_grad()
def test_capture_and_edit_on_a_compiled_model() -> None:
    model, batch = tiny_model(num_layers=1), inputs_for([5, 3], 4)
    fast, before = compiled(model), model(*batch)
    with capture(model) as eager, edit(model, "cross.1.2", zero):
        expected = model(*batch)
    with capture(model) as seen, edit(model, "cross.1.2", zero):
        torch.testing.assert_close(fast(*batch), expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(dict(seen), dict(eager), atol=1e-5, rtol=1e-5)
    assert not torch.allclose(expected, before)
    torch.testing.assert_close(fast(*batch), before, atol=1e-5, rtol=1e-5)


def test_a_compiled_model_is_addressed_as_the_model_itself(model: Transformer) -> None:
    wrapped = torch.compile(model, backend="eager")
    assert isinstance(wrapped, nn.Module)
    assert list(hook_points(wrapped)) == list(hook_points(model))
    with capture(wrapped, "cross.1"), edit(wrapped, f"{CROSS_0}.values", lambda value, site: None):
        listening = [address for address, point in hook_points(model).items() if point.is_active]
    assert listening == [f"{CROSS_0}.values", f"{CROSS_0}.weights"]
