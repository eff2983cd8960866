"""Attention masks. A mask is boolean: True where a query may attend to a key.

Shape legend: B sentences, S source positions, T target positions.
"""

from __future__ import annotations

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
