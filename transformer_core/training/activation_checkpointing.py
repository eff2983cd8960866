"""Activation checkpointing: layers drop their activations and compute them again in the backward pass.

Memory for activations falls to one vector per position and layer, at the cost of one more forward pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from transformer_core.hooks.points import HookPoint, has_hooks, without_hooks


def checkpoint_activations(layers: Sequence[nn.Module]) -> None:
    """Let each layer compute its activations again; names, weights, gradients and dropout stay the same.

    Hooks fire once: a layer with hooks of this context keeps its activations, since an edit has to be part of the
    gradient, and a second call of it could do something else. Hooks added after the forward pass are not called: the
    second pass skips them, and so takes the same kernels as the first.
    """
    for layer in layers:
        points = [module for module in layer.modules() if isinstance(module, HookPoint)]
        layer.forward = partial(_forward, layer.forward, points)


def _forward(forward: Callable[..., Any], points: Sequence[HookPoint], *inputs: Any) -> Any:
    if not torch.is_grad_enabled() or has_hooks(*points):
        return forward(*inputs)
    return checkpoint(forward, *inputs, use_reentrant=False, context_fn=lambda: (nullcontext(), without_hooks()))
