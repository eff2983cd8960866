"""Attention masks. A mask is boolean: True where a query may attend to a key.

Shape legend: B sentences, S source positions, T target positions.
"""

from __future__ import annotations

import torch
from torch import Tensor

_CAUSAL = "_headlight_causal"  # an attribute of mask tensors: their version, for one may be written to


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
    mask = torch.ones(length, length, dtype=torch.bool, device=device).tril()[None, None]
    if not torch.compiler.is_compiling():
        mask.__dict__[_CAUSAL] = _version(mask)
    return mask


def is_causal(mask: Tensor | None) -> bool:
    """Return whether a mask is one of `causal_mask`, unchanged, for which kernels need no tensor."""
    if mask is None or torch.compiler.is_compiling() or _CAUSAL not in mask.__dict__:
        return False
    version = _version(mask)
    return version is not None and mask.__dict__[_CAUSAL] == version


def _version(mask: Tensor) -> int | None:
    """Return how often a mask was written to; None for tensors of inference mode, which do not count."""
    return None if mask.is_inference() else mask._version
