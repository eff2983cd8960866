"""Attention masks. A mask is boolean: True where a query may attend to a key.

Shape legend: B sentences, S source positions, T target positions.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def padding_mask(ids: Tensor, pad: int) -> Tensor:
    """(B, S) ids -> (B, 1, 1, S): no query attends to padding."""
    return (ids != pad)[:, None, None, :]


def input_padding_mask(inputs: Tensor, pad: int) -> Tensor:
    """(B, T) decoder inputs -> (B, 1, 1, T): as `padding_mask`, but `<s>` counts even where it is the padding token."""
    mask = padding_mask(inputs, pad)
    mask[..., 0] = True
    return mask


def causal_mask(length: int, device: torch.device | None = None) -> Tensor:
    """(1, 1, T, T): a position attends to itself and earlier ones, so that no target leaks (Section 3.2.3)."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()[None, None]


class AttentionBias:
    """A mask in the form that is added to scores, computed once: the layers of a model share one mask.

    Args:
        mask: Boolean, (..., Q or 1, K or 1), True where attention is allowed.

    Attributes:
        fully_masked: (..., Q or 1, 1), True for queries that may attend to no key; None if there are none.
    """

    def __init__(self, mask: Tensor) -> None:
        self._hidden = ~mask
        self._added: dict[torch.dtype, Tensor] = {}
        fully_masked = self._hidden.all(dim=-1, keepdim=True)
        # Reading the answer is free only on a CPU, and impossible while compiling.
        readable = mask.device.type == "cpu" and not torch.compiler.is_compiling()
        self.fully_masked = None if readable and not bool(fully_masked.any()) else fully_masked

    def as_additive(self, dtype: torch.dtype) -> Tensor:
        """Zero where attention is allowed, else minus infinity.

        Adding is faster than filling, and so is its gradient.
        """
        if dtype not in self._added:
            zeros = torch.zeros(self._hidden.shape, dtype=dtype, device=self._hidden.device)
            self._added[dtype] = zeros.masked_fill_(self._hidden, -math.inf)
        return self._added[dtype]


_CACHED = "_headlight_attention_bias"  # an attribute of mask tensors: the version of the mask, and its bias


def attention_bias(mask: Tensor) -> AttentionBias:
    """The bias of a mask, cached on the mask until it is written to."""
    # Tensors of inference mode have no version, and a later training could not use them.
    if torch.compiler.is_compiling() or torch.is_inference_mode_enabled() or mask.is_inference():
        return AttentionBias(mask)
    known: tuple[int, AttentionBias] | None = mask.__dict__.get(_CACHED)
    if known is None or known[0] != mask._version:
        known = (mask._version, AttentionBias(mask))
        mask.__dict__[_CACHED] = known
    return known[1]
