"""Who may look at whom. A mask is boolean: True where a query may attend to a key.

Shape legend: B sentences, S source positions, T target positions.
"""

from __future__ import annotations

import torch
from torch import Tensor


def padding_mask(ids: Tensor, pad: int) -> Tensor:
    """(B, S) ids -> (B, 1, 1, S): nobody attends to padding."""
    return (ids != pad)[:, None, None, :]


def causal_mask(length: int, device: torch.device | None = None) -> Tensor:
    """(1, 1, T, T): a position sees itself and the past, so that no answer leaks into its question (Section 3.2.3)."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()[None, None]
