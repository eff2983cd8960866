"""Dropout (Section 5.4), with masks that a CPU draws several times faster than PyTorch's."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

_STEPS = 2**16  # a value is kept or dropped by 16 random bits


class Dropout(nn.Dropout):
    """torch.nn.Dropout; in training on a CPU the probability is rounded to a multiple of 1 / 65,536.

    PyTorch draws one number of 64 bits for each value there, one after the other, which took a tenth of a training
    step; here four values share one. Kept values are scaled so that the mean stays.
    """

    def forward(self, input: Tensor) -> Tensor:
        """A tensor of any shape -> one of the same shape."""
        dropped = round(self.p * _STEPS)
        if not self.training or not dropped:
            return input
        if input.device.type != "cpu" or dropped == _STEPS or torch.compiler.is_compiling():
            return F.dropout(input, self.p, training=True)
        return input * keep_mask(input, dropped) * (_STEPS / (_STEPS - dropped))


def keep_mask(like: Tensor, dropped: int) -> Tensor:
    """Ones, and zeros with a probability of `dropped` / 65,536, in the shape and number format of another tensor."""
    count = like.numel()
    words = torch.empty(-(-count // 4), dtype=torch.int64).random_(-(2**63), None)
    numbers = words.view(torch.int16)[:count].view(like.shape)  # uniform in -32,768 ... 32,767
    # Written in the format of the values at once: a product with booleans takes many times as long.
    return torch.ge(numbers, dropped - _STEPS // 2, out=torch.empty(like.shape, dtype=like.dtype))
