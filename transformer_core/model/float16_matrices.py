"""Matrices that stay in float16, as checkpoints store them, and are raised to float32 where they are used.

A float16 weight has the same value in float32, so what comes out is that of float32 weights, apart from the order of
sums. A matrix is raised block by block, each small enough for a core's cache: a product with few rows takes as long as
reading the matrix from memory does, and in float16 that is half as much.

Shape legend: B rows of the batch, n positions, d = d_model, V = vocab_size.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import add
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_core.cpu import onednn
from transformer_core.model.layers import SharedEmbedding

_BLOCK_VALUES = 2**18  # raised at a time: 1 MiB in float32

_FEW_ROWS = 8  # with fewer, oneDNN is no faster


class HalfLinear(nn.Linear):
    """nn.Linear whose W stays as it is stored, for inference: gradients flow to x, but not to W."""

    def forward(self, x: Tensor) -> Tensor:
        """(..., in) -> (..., out)."""
        return linear_float16_weight(x, self.weight, self.bias)


class HalfEmbedding(SharedEmbedding):
    """SharedEmbedding whose matrix stays as it is stored, for inference."""

    def forward(self, ids: Tensor) -> Tensor:
        """(B, n) ids -> (B, n, d) in float32."""
        return F.embedding(ids, self.weight).float() * self.scale

    def logits(self, x: Tensor, bias: Tensor | None = None) -> Tensor:
        """(..., d) -> (..., V)."""
        return linear_float16_weight(x, self.weight, bias)


def use_float16_matrices(model: nn.Module) -> None:
    """Let the matrices of a model on the meta device, of projections and embeddings, stay as they are stored."""
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if type(child) is nn.Linear:
                shape = child.in_features, child.out_features
                half: HalfLinear | HalfEmbedding = HalfLinear(*shape, bias=child.bias is not None, device="meta")
            elif type(child) is SharedEmbedding:
                with torch.device("meta"):
                    half = HalfEmbedding(*child.weight.shape)
                half.scale = child.scale
            else:
                continue
            half.weight.requires_grad_(False)
            setattr(parent, name, half)


def stored_matrices(model: nn.Module) -> set[str]:
    """Return names of the weights that stay as they are stored; none for a model in float32."""
    names = (name for name, module in model.named_modules() if isinstance(module, HalfLinear | HalfEmbedding))
    return {f"{name}.weight" for name in names}


def linear_float16_weight(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """torch.nn.functional.linear whose W is raised to float32 block by block; W has no gradient.

    Args:
        x: (..., in), float32.
        weight: (out, in), float16.
        bias: (out,) float32, or None.

    Returns:
        (..., out), float32.
    """
    out: Tensor = _RaisedLinear.apply(x, weight, bias)  # type: ignore[no-untyped-call]
    return out


class _RaisedLinear(torch.autograd.Function):
    """Raises W again for the backward pass, for which autograd alone would keep all of it in float32."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(weight)
        out = x.new_empty(*x.shape[:-1], len(weight))
        many = x.numel() >= _FEW_ROWS * x.shape[-1]
        product = onednn.linear if many and x.device.type == "cpu" and onednn.works(x.dtype) else F.linear
        for rows, block in _raised(weight):
            out[..., rows] = product(x, block, None if bias is None else bias[rows])
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (weight,), (of_out,) = ctx.saved_tensors, gradients
        parts = (of_out[..., rows] @ block for rows, block in _raised(weight))
        return reduce(add, parts), None, None


def _raised(weight: Tensor) -> Iterator[tuple[slice, Tensor]]:
    """Yield rows of (out, in), as many as _BLOCK_VALUES has room for, in float32; valid until the next ones."""
    size = min(len(weight), max(1, _BLOCK_VALUES // weight.shape[1]))
    # One block for all, which stays in the cache; new ones could be new pages of memory each time.
    block = torch.empty(size, weight.shape[1], device=weight.device)
    for start in range(0, len(weight), size):
        part = weight[start : start + size]
        yield slice(start, start + len(part)), block[: len(part)].copy_(part)
