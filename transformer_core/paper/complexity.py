"""Table 1 of the paper (Section 4): operations of a layer, sequential operations, path length.

The table gives orders of growth. Here their leading terms are numbers, with all constants one, so that layers can
be compared; `flops.py` counts what the model really multiplies.

Legend: n positions, d width (d_model), k width of a kernel, r positions that restricted attention sees on either side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Layer = Literal["attention", "recurrent", "convolution", "dilated", "separable", "restricted"]
LAYERS: tuple[Layer, ...] = get_args(Layer)


@dataclass(frozen=True)
class Cost:
    """A row of Table 1 with numbers put in.

    Args:
        operations: Multiply-adds of one layer, the leading term.
        sequential: Operations that must wait for one another.
        path: Operations on the longest way between two positions, with as many layers as that takes.
    """

    operations: float
    sequential: int
    path: int


def layer_cost(layer: Layer, *, n: int, d: int, k: int = 3, r: int = 8) -> Cost:
    """Return a row of Table 1.

    Args:
        layer: Self-attention; a recurrent layer; a convolution that sees k neighbouring positions, its own in the
            middle; the same split into depth and width (separable); one whose kernel sees k earlier positions, k times
            as far apart in every layer (dilated, as in ByteNet); or self-attention restricted to r positions on either
            side.
        n: Positions, at least 1.
        d: Width, at least 1.
        k: Width of a kernel, an odd number from 3 on.
        r: Positions on either side, at least 1.

    Raises:
        ValueError: A number is outside what is allowed, or the layer is none of these.
    """
    for name, value, minimum in (("n", n, 1), ("d", d, 1), ("k", k, 3), ("r", r, 1)):
        if value < minimum:
            raise ValueError(f"{name} is {value}, but must be {minimum} or more")
    if k % 2 == 0:
        raise ValueError(f"k is {k}, but must be odd, so that a kernel reaches as far on both sides")
    if layer == "attention":
        return Cost(float(n) * n * d, 1, min(1, n - 1))
    if layer == "recurrent":
        return Cost(float(n) * d * d, n, n - 1)
    if layer == "convolution":
        return Cost(float(k) * n * d * d, 1, _steps(n, k // 2))
    if layer == "dilated":
        return Cost(float(k) * n * d * d, 1, _dilated(n, k))
    if layer == "separable":
        return Cost(float(k) * n * d + float(n) * d * d, 1, _steps(n, k // 2))
    if layer == "restricted":
        return Cost(float(min(r, n)) * n * d, 1, _steps(n, r))
    raise ValueError(f"layer is {layer!r}, but must be one of {', '.join(LAYERS)}")


def _steps(n: int, reach: int) -> int:
    """Return the layers until the first position reaches the last one, with `reach` positions per layer."""
    return -(-(n - 1) // reach)


def _dilated(n: int, k: int) -> int:
    """Return the layers of a dilated convolution, k times wider in every layer: log_k(n), rounded up."""
    layers = 0
    while k**layers < n:
        layers += 1
    return layers
