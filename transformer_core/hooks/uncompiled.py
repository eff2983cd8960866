"""Hooks of a compiled model, run outside the compiled graph.

A separate module, because the decorator imports the whole compiler; only compiled models have to wait for that.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


@torch.compiler.disable  # type: ignore[untyped-decorator]
def run_hooks_eagerly(point: nn.Module, value: Tensor) -> Tensor:
    """Pass a value through a hook point, as if nothing were compiled."""
    result: Tensor = point(value)
    return result
