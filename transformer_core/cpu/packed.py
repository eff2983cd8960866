"""Weights laid out for a search, which multiplies few rows with them at every step.

To pack them takes as long as half the search for a sentence, so they are kept for the next one. Before each they are
compared with the weights, which may have changed in between: that takes a twentieth of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from transformer_core.cpu import onednn

_VERY_WIDE = 4_096
_LARGE = 2**24  # values: 64 MB in float32, beyond the caches
_FEW_ROWS = 4
_MAX_BYTES = 256 * 2**20  # of all that is kept; more is packed for every search, and freed


class PackedLinear:
    """x W^T + b for few rows, without gradients: torch.nn.functional.linear, but faster on a CPU.

    oneDNN keeps a matrix in blocks that suit its kernels, which torch's own compiler calls for frozen weights. Measured
    in float32 on an EPYC with W of (16,000, 256), that is 4 times as fast as the plain layout with 2 to 4 rows, 3 times
    with 16, and 1.2 times with 256. A single row is another matter: its product takes as long as reading W does. With
    columns that is as fast as with blocks on the EPYC, and 1.3 to 2.6 times as fast on a Xeon.

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
        self._in_blocks = on_cpu and not (self._from_the_left or single) and onednn.works(weight.dtype)
        if self._in_blocks:
            self._weight = onednn.in_blocks(self._weight)
        elif on_cpu and not self._from_the_left and (single or len(weight) >= _VERY_WIDE):
            self._weight = self._weight.T.contiguous().T

    def __call__(self, x: Tensor, residual: Tensor | None = None) -> Tensor:
        """(R, in) -> (R, out), added to a residual of that shape if there is one."""
        if self._in_blocks:
            return onednn.linear(x, self._weight, self._bias, residual)
        if self._from_the_left:
            product = (self._weight @ x.T).T.contiguous()
            if self._bias is not None:
                product += self._bias
            return product if residual is None else product.add_(residual)
        if self._bias is None:
            return torch.mm(x, self._weight.T) if residual is None else torch.addmm(residual, x, self._weight.T)
        product = torch.addmm(self._bias, x, self._weight.T)
        return product if residual is None else product.add_(residual)


class _Kept(NamedTuple):
    bits: list[tuple[int, int]]
    num_bytes: int
    packed: PackedLinear


_kept: WeakKeyDictionary[nn.Module, dict[int, _Kept]] = WeakKeyDictionary()


def kept(
    owner: nn.Module, weights: Sequence[Tensor | None], rows: int, pack: Callable[[], PackedLinear]
) -> PackedLinear:
    """Return what `pack` returned for an earlier search, if no weight has changed since; else call it.

    Args:
        owner: Has the weights; what is kept for it goes with it.
        weights: Those that `pack` reads, None for a bias that is missing. Elsewhere than on a CPU nothing is kept.
        rows: As for `PackedLinear`.
        pack: Packs them for that many rows.
    """
    packed = [weight for weight in weights if weight is not None]
    if packed[0].device.type != "cpu":
        return pack()
    layout = min(rows, 2) if rows <= _FEW_ROWS else _FEW_ROWS + 1
    bits, layouts = list(map(_bits, packed)), _kept.setdefault(owner, {})
    if layout not in layouts or layouts[layout].bits != bits:
        num_bytes = sum(weight.nbytes for weight in packed)
        if num_bytes + sum(each.num_bytes for all_of in list(_kept.values()) for each in all_of.values()) > _MAX_BYTES:
            _kept.clear()
            layouts = _kept.setdefault(owner, {})
        layouts[layout] = _Kept(bits, num_bytes, pack())
    return layouts[layout].packed


def _bits(weight: Tensor) -> tuple[int, int]:
    """Return the sum of the bits of a weight, and how often it was changed, as far as torch counts that."""
    whole = weight.shape[-1] * weight.itemsize % 8 == 0
    kind = torch.int64 if whole else {2: torch.int16, 4: torch.int32, 8: torch.int64}[weight.itemsize]
    return int(weight.detach().view(kind).sum()), 0 if weight.is_inference() else weight._version


def may_pack(weight: Tensor) -> bool:
    """Return whether a weight can be packed now: a plain one, and neither gradients nor autocast nor a compiler."""
    return (
        type(weight) is nn.Parameter  # no DTensor
        and not torch.is_grad_enabled()
        and not torch.is_autocast_enabled(weight.device.type)
        and not torch.compiler.is_compiling()
    )
