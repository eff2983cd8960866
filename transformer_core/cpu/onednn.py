"""oneDNN's matrix products, which torch's own compiler calls.

On some CPUs they are far faster than torch.nn.functional.linear.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor


def linear(x: Tensor, weight: Tensor, bias: Tensor | None, residual: Tensor | None = None) -> Tensor:
    """torch.nn.functional.linear, without gradients.

    Args:
        x: (..., in).
        weight: (out, in), plain or `in_blocks`.
        bias: (out,), or None.
        residual: (..., out), added to the product; None adds nothing.

    Returns:
        (..., out).
    """
    product = torch.ops.mkldnn._linear_pointwise
    out: Tensor
    if residual is None:
        out = product.default(x, weight, bias, "none", [], "")
    else:
        out = product.binary(x, residual, weight, bias, "add")
    return out


def in_blocks(weight: Tensor) -> Tensor:
    """Return a copy of a matrix in the blocks that suit oneDNN's kernels; for `linear` alone."""
    packed: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight)
    return packed


@cache
def works(dtype: torch.dtype) -> bool:
    """Return whether this torch multiplies matrices of this number format with oneDNN on this CPU.

    Its operators are not documented, so this tries one product.
    """
    if dtype not in (torch.float32, torch.bfloat16) or not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return False
    weight, x = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=dtype), torch.ones(1, 2, dtype=dtype)
    try:
        if dtype == torch.bfloat16 and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
            return False
        products = [linear(x, weight, None), linear(x, in_blocks(weight), None, torch.zeros(1, 3, dtype=dtype))]
    except (AttributeError, RuntimeError, TypeError):
        return False
    return all(product.tolist() == [[3.0, 7.0, 11.0]] for product in products)
