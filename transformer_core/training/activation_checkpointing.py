"""Activation checkpointing: layers drop their activations and compute them again in the backward pass.

Memory for activations falls to one vector per position and layer, at the cost of one more forward pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from transformer_core.hooks.points import HookPoint


def checkpoint_activations(layers: Sequence[nn.Module]) -> None:
    """Let each layer recompute its activations from now on; names, weights, gradients and dropout stay the same.

    Hooks fire once: a layer with a listening hook point keeps its activations, since an edit has to be part of the
    gradient, and a second call of it could do something else. Hooks added after the forward pass are not called.
    """
    for layer in layers:
        points = [module for module in layer.modules() if isinstance(module, HookPoint)]
        layer.forward = partial(_forward, layer.forward, points)


def _forward(forward: Callable[..., Any], points: Sequence[HookPoint], *inputs: Any) -> Any:
    if not torch.is_grad_enabled() or any(point.listening for point in points):
        return forward(*inputs)
    return checkpoint(forward, *inputs, use_reentrant=False, context_fn=lambda: (nullcontext(), _without_hooks(points)))


@contextmanager
def _without_hooks(points: Sequence[HookPoint]) -> Iterator[None]:
    """Disable all hook points inside, so that the second pass takes the same kernels as the first."""
    listening = [point for point in points if point.listening]
    for point in listening:
        point.listening = False
    try:
        yield
    finally:
        for point in listening:
            point._update()
