"""The speed of matrix products in bfloat16 on this machine, compared with float32.

A processor without bfloat16 instructions emulates them: up to a hundred times slower, with the same results. No flag
says on which processors torch's kernels are fast, so this measures it, in a few milliseconds.
"""

from __future__ import annotations

import time

import torch

_SIZE = 256  # rows and columns: the products of a small model
_PASSES = 5


def bfloat16_time_ratio(device: torch.device | str = "cpu") -> float:
    """Time of a product of two 256 x 256 matrices in bfloat16 over that in float32, the fastest of five passes each."""
    return _seconds(torch.bfloat16, device) / _seconds(torch.float32, device)


def _seconds(dtype: torch.dtype, device: torch.device | str) -> float:
    a = torch.ones(_SIZE, _SIZE, dtype=dtype, device=device)
    best = float("inf")
    a @ a  # kernels are chosen at the first call
    for _ in range(_PASSES):
        start = time.perf_counter()
        a @ a
        best = min(best, time.perf_counter() - start)
    return best
