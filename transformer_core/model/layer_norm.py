"""LayerNorm (Ba et al. 2016), open to hooks."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from transformer_core.hooks.points import HookPoint, has_hooks, run_hooks


class LayerNorm(nn.LayerNorm):
    """torch.nn.LayerNorm over d_model, whose scale can be read and changed: the standard deviation it divides by.

    Without hooks on the scale it takes the fused kernel. An edit that puts in the scale of another run freezes it.

    Args:
        d_model: Width.
        epsilon: Added to the variance.
    """

    def __init__(self, d_model: int, epsilon: float) -> None:
        super().__init__(d_model, eps=epsilon)
        self.scale = HookPoint()  # (B, n, 1)

    def forward(self, input: Tensor) -> Tensor:
        """(B, n, d) -> (B, n, d)."""
        if not has_hooks(self.scale):
            return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)
        x = input.to(self.weight.dtype)  # as the kernel does under autocast
        centred = x - x.mean(dim=-1, keepdim=True)
        scale = run_hooks(self.scale, (centred.square().mean(dim=-1, keepdim=True) + self.eps).sqrt())  # (B, n, 1)
        return centred / scale * self.weight + self.bias
