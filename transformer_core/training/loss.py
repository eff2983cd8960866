"""Label-smoothed cross-entropy (Section 5.4) that never holds all logits.

Smoothing takes epsilon from the correct token and spreads it over the V - 1 others. The other convention spreads it
over all V tokens; it is the same with a smaller epsilon (see `mass_on_others`), so there is one loss for both.

Shape legend: N target tokens without padding, d = d_model, V = vocab_size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from transformer_core.config import Smoothing
from transformer_core.cpu.cross_entropy_block import CrossEntropyBlock

_CHUNK = 1024  # rows of logits that exist at a time
_CPU_CHUNK = 256  # on a CPU, which still has them in its cache when it multiplies them again
_CPU_BLOCK = 64  # rows of them in float32, few enough for a CPU's cache; a GPU does all rows at once


@dataclass(frozen=True)
class Loss:
    """Sums over the target tokens of a batch, in nats.

    Args:
        smoothed: Loss with label smoothing; carries the gradient.
        nll: Negative log-likelihood of the correct tokens, without smoothing; perplexity is exp(nll / tokens).
        tokens: Number of tokens summed.
    """

    smoothed: Tensor
    nll: Tensor
    tokens: int


def mass_on_others(epsilon: float, vocab_size: int, smoothing: Smoothing) -> float:
    """Return probability mass that the correct token loses to the V - 1 others.

    Spread over the others that is epsilon; spread over all V (uniform), a part 1 / V of it comes back.
    """
    return epsilon if smoothing == "others" else epsilon * (vocab_size - 1) / vocab_size


def _sum_dtype(device: torch.device) -> torch.dtype:
    """Return number format of sums over a batch; Apple's GPUs have no float64."""
    return torch.float32 if device.type == "mps" else torch.float64


class _ChunkedCrossEntropy(torch.autograd.Function):
    """Smoothed cross-entropy from the vectors before the output projection; logits exist for one chunk at a time.

    The gradient is computed in the forward pass, while the chunk's probabilities are at hand.
    """

    @staticmethod
    def forward(
        ctx: Any,
        vectors: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        targets: Tensor,
        smoothing: float,
        dtype: torch.dtype,
    ) -> tuple[Tensor, Tensor]:
        low_vectors, low_weight = vectors.to(dtype), weight.to(dtype)
        with_gradient = any(ctx.needs_input_grad[:3])
        d_vectors = torch.empty_like(low_vectors)
        d_weight: Tensor | None = None
        d_bias = None if bias is None else torch.zeros_like(bias, dtype=torch.float32)
        smoothed, nll = (vectors.new_zeros((), dtype=_sum_dtype(vectors.device)) for _ in range(2))
        on_cpu = vectors.device.type == "cpu"
        chunk = min(_CPU_CHUNK if on_cpu else _CHUNK, len(vectors))
        rows = min(_CPU_BLOCK, chunk) if on_cpu else chunk
        logits, p = vectors.new_empty(2, rows, len(weight), dtype=torch.float32)
        block = CrossEntropyBlock(logits, p, bias, smoothing)
        lows = vectors.new_empty(chunk, len(weight), dtype=dtype)
        for start in range(0, len(vectors), max(chunk, 1)):
            x, right = low_vectors[start : start + chunk], targets[start : start + chunk, None]
            low = torch.mm(x, low_weight.T, out=lows[: len(x)])  # (n, V) logits, and then their gradient
            for some, their_right in zip(torch.split(low, rows), torch.split(right, rows), strict=True):
                sums = block.sums(some, their_right, d_bias, with_gradient)
                smoothed += sums[0]
                nll += sums[1]
            if with_gradient:
                torch.mm(low, low_weight, out=d_vectors[start : start + chunk])
                d_weight = (low.T @ x).float() if d_weight is None else d_weight.add_(low.T @ x)
        if d_weight is None:
            d_weight = torch.zeros_like(weight, dtype=torch.float32)
        ctx.save_for_backward(d_vectors, d_weight, d_bias)
        ctx.vector_dtype, ctx.weight_dtype = vectors.dtype, weight.dtype
        nll = nll.float()
        ctx.mark_non_differentiable(nll)
        return smoothed.float(), nll

    @staticmethod
    def backward(ctx: Any, d_smoothed: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        d_vectors, d_weight, d_bias = ctx.saved_tensors
        return (
            (d_vectors * d_smoothed).to(ctx.vector_dtype),
            (d_weight * d_smoothed).to(ctx.weight_dtype),
            None if d_bias is None else d_bias * d_smoothed,
            None,
            None,
            None,
        )


def output_loss(
    vectors: Tensor,
    weight: Tensor,
    targets: Tensor,
    *,
    pad: int,
    smoothing: float,
    dtype: torch.dtype = torch.float32,
    bias: Tensor | None = None,
) -> Loss:
    """Return the loss of a batch, from the decoder's output.

    Args:
        vectors: (B, T, d) from `Transformer.decode`.
        weight: (V, d), the output projection.
        targets: (B, T) ids of the correct tokens, padded.
        pad: Id of padding, which counts for nothing.
        smoothing: Mass on the other tokens; 0 for validation.
        dtype: Number format of the matrix products.
        bias: (V,) of the output projection, in float32.
    """
    real = targets != pad  # (B, T)
    kept = targets[real]  # (N,)
    # PyTorch leaves `apply` untyped.
    smoothed, nll = _ChunkedCrossEntropy.apply(vectors[real], weight, bias, kept, smoothing, dtype)  # type: ignore[no-untyped-call]
    return Loss(smoothed, nll, len(kept))
