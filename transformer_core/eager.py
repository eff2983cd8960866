"""A visit to a hook point that the compiler leaves alone.

In a module of its own, since the decorator loads the whole compiler, for which only a model that is compiled need wait.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


@torch.compiler.disable  # type: ignore[untyped-decorator]
def visit_eagerly(point: nn.Module, value: Tensor) -> Tensor:
    """Pass a value through a hook point, as if nothing were compiled."""
    result: Tensor = point(value)
    return result
