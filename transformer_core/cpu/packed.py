"""Weights laid out for a search, which multiplies few rows with them at every step.

They are packed again for every search, since weights may have changed in between: a copy of milliseconds that a few
steps win back.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_core.cpu import onednn

_VERY_WIDE = 4_096
_LARGE = 2**24  # values: 64 MB in float32, beyond the caches
_FEW_ROWS = 4


class PackedLinear:
    """x W^T + b for few rows, without gradients: torch.nn.functional.linear, but faster on a CPU.

    oneDNN keeps a matrix in blocks that suit its kernels, which torch's own compiler calls for frozen weights. Measured
    in float32 on an EPYC with W of (16,000, 256), that is 4 times as fast as the plain layout with 2 to 4 rows, 3 times
    with 16, and 1.2 times with 256. A single row is another matter: its product takes as long as reading W does, and
    a W with more outputs than inputs is read faster by columns: 2 times for (1,024, 256), 3.4 times for (16,000, 256).

    A large W, such as that of a vocabulary of 60,000, stays as it is where 2 to 4 rows are multiplied, as with one
    sentence and a beam: W x^T takes 1.2 times as long as blocks do, which a hundred steps would need to win back what
    packing takes, and a second W would take memory.

    Args:
        weight: (out, in).
        bias: (out,), or None.
        rows: Maximum number of rows.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None, rows: int) -> None:
        self._weight, self._bias = weight.detach(), None if bias is None else bias.detach()
        on_cpu, single = weight.device.type == "cpu", rows == 1 and weight.dtype == torch.float32
        large = len(weight) >= _VERY_WIDE and weight.numel() >= _LARGE and weight.dtype == torch.float32
        self._from_the_left = on_cpu and large and 1 < rows <= _FEW_ROWS
        if self._from_the_left:
            self._in_blocks = False
            return
        self._in_blocks = on_cpu and not single and onednn.works(weight.dtype)
        if self._in_blocks:
            self._weight = onednn.in_blocks(self._weight)
        elif on_cpu and (len(weight) >= _VERY_WIDE or (single and len(weight) >= 2 * weight.shape[1])):
            self._weight = self._weight.T.contiguous().T

    def __call__(self, x: Tensor) -> Tensor:
        """(..., in) -> (..., out)."""
        if self._in_blocks:
            return onednn.linear(x, self._weight, self._bias)
        if self._from_the_left:
            product = (self._weight @ x.flatten(0, -2).T).T.contiguous()  # (rows, out)
            if self._bias is not None:
                product += self._bias
            return product.view(*x.shape[:-1], -1)
        return F.linear(x, self._weight, self._bias)


def may_pack(weight: Tensor) -> bool:
    """Return whether a weight can be packed now: a plain one, and neither gradients nor autocast nor a compiler."""
    return (
        type(weight) is nn.Parameter  # no DTensor
        and not torch.is_grad_enabled()
        and not torch.is_autocast_enabled(weight.device.type)
        and not torch.compiler.is_compiling()
    )
