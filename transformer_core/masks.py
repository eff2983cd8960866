"""Who may look at whom. A mask is boolean: True where a query may attend to a key.

Shape legend: B sentences, S source positions, T target positions.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def padding_mask(ids: Tensor, pad: int) -> Tensor:
    """(B, S) ids -> (B, 1, 1, S): nobody attends to padding."""
    return (ids != pad)[:, None, None, :]


def causal_mask(length: int, device: torch.device | None = None) -> Tensor:
    """(1, 1, T, T): a position sees itself and the past, so that no answer leaks into its question (Section 3.2.3)."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()[None, None]


class MaskMeaning:
    """What a mask does to scores, worked out once: the layers of a model share one mask.

    Args:
        mask: Boolean, (..., Q or 1, K or 1), True where attention is allowed.
    """

    def __init__(self, mask: Tensor) -> None:
        self._hidden = ~mask
        self._added: dict[torch.dtype, Tensor] = {}
        nowhere = self._hidden.all(dim=-1, keepdim=True)
        # Only on a CPU does it cost nothing to ask, and no compiler can know the answer.
        asks = mask.device.type == "cpu" and not torch.compiler.is_compiling()
        self.nowhere = None if asks and not bool(nowhere.any()) else nowhere  # (..., Q or 1, 1), None if there is none

    def added_as(self, dtype: torch.dtype) -> Tensor:
        """Zero where attention is allowed, else minus infinity.

        To add is quicker than to fill in, and so is its gradient.
        """
        if dtype not in self._added:
            zeros = torch.zeros(self._hidden.shape, dtype=dtype, device=self._hidden.device)
            self._added[dtype] = zeros.masked_fill_(self._hidden, -math.inf)
        return self._added[dtype]


_REMEMBERED = "_headlight_meaning"  # an attribute of mask tensors: the mask's version when it was read, and its meaning


def meaning_of(mask: Tensor) -> MaskMeaning:
    """The meaning of a mask, remembered as long as the mask lives and nobody writes into it."""
    # Nobody counts the versions of what inference mode makes, and a later training could not use it.
    if torch.compiler.is_compiling() or torch.is_inference_mode_enabled() or mask.is_inference():
        return MaskMeaning(mask)
    known: tuple[int, MaskMeaning] | None = mask.__dict__.get(_REMEMBERED)
    if known is None or known[0] != mask._version:
        known = (mask._version, MaskMeaning(mask))
        mask.__dict__[_REMEMBERED] = known
    return known[1]
