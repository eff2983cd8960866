"""Label-smoothed cross-entropy (Section 5.4) that never holds all logits.

Smoothing takes epsilon from the correct token and spreads it over the V - 1 others. The other convention spreads it
over all V tokens; it is the same with a smaller epsilon (see `mass_on_others`), so there is one loss for both.

On a CPU padding is left out. On a GPU that would wait for the number of tokens, so padding counts for nothing instead.

Shape legend: N target tokens, n of them at a time, d = d_model, V = vocab_size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from transformer_core.config import Smoothing
from transformer_core.cpu.cross_entropy_block import CrossEntropyBlock
from transformer_core.devices import backend, logits_bytes

_CPU_CHUNK = 256  # rows of logits that a CPU still has in its cache when it multiplies them again
_CPU_BLOCK = 64  # rows of them in float32, few enough for a CPU's cache; a GPU does all rows at once


@dataclass(frozen=True)
class Loss:
    """Sums over the target tokens of a batch, in nats.

    Args:
        smoothed: Loss with label smoothing; carries the gradient.
        nll: Negative log-likelihood of the correct tokens, without smoothing; perplexity is exp(nll / tokens).
        tokens: () number of tokens summed.
    """

    smoothed: Tensor
    nll: Tensor
    tokens: Tensor


def mass_on_others(epsilon: float, vocab_size: int, smoothing: Smoothing) -> float:
    """Return probability mass that the correct token loses to the V - 1 others.

    Spread over the others that is epsilon; spread over all V (uniform), a part 1 / V of it comes back.
    """
    return epsilon if smoothing == "others" else epsilon * (vocab_size - 1) / vocab_size


def row_sums(
    low: Tensor,
    right: Tensor,
    counts: Tensor,
    bias: Tensor | None,
    smoothing: float,
    d_bias: Tensor | None,
    with_gradient: bool,
) -> tuple[Tensor, Tensor]:
    """Sum smoothed loss and nll in few passes over a GPU's memory: twin of `CrossEntropyBlock.sums`.

    Args:
        low: (n, V) logits, which the gradient overwrites.
        right: (n, 1) correct tokens.
        counts: (n, 1) 1, or 0 for padding.
        bias: (V,) of the output projection.
        smoothing: Mass on the other tokens.
        d_bias: (V,) sum of the gradients of the bias.
        with_gradient: Whether the gradient is needed.
    """
    off_target = smoothing / (low.shape[1] - 1)
    log_p = torch.log_softmax(low if bias is None else low.float() + bias, dim=-1, dtype=torch.float32)
    nll = -log_p.gather(1, right)
    smoothed = (1.0 - smoothing - off_target) * nll - off_target * log_p.sum(dim=-1, keepdim=True)
    if with_gradient:
        p = log_p.exp_()
        of_right = p.gather(1, right) - (1.0 - smoothing)
        torch.sub(p, off_target, out=low)  # p - q, but for the right token
        low.scatter_(1, right, of_right.to(low.dtype))
        if d_bias is not None:
            d_bias += low.float().T.mv(counts[:, 0])
    return (smoothed * counts).sum(), (nll * counts).sum()


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
        counts: Tensor | None,
        smoothing: float,
        dtype: torch.dtype,
    ) -> tuple[Tensor, Tensor]:
        low_vectors, low_weight = vectors.to(dtype), weight.to(dtype)
        with_gradient = any(ctx.needs_input_grad[:3])
        d_vectors = torch.empty_like(low_vectors)
        d_weight: Tensor | None = None
        d_bias = None if bias is None else torch.zeros_like(bias, dtype=torch.float32)
        smoothed, nll = (vectors.new_zeros((), dtype=backend(vectors.device).sum_dtype) for _ in range(2))
        chunk = min(_rows_at_a_time(weight, dtype) if counts is not None else _CPU_CHUNK, len(vectors))
        lows = vectors.new_empty(chunk, len(weight), dtype=dtype)
        if counts is None:
            logits, p = vectors.new_empty(2, min(_CPU_BLOCK, chunk), len(weight), dtype=torch.float32)
            block = CrossEntropyBlock(logits, p, bias, smoothing)
        for start in range(0, len(vectors), max(chunk, 1)):
            x, right = low_vectors[start : start + chunk], targets[start : start + chunk, None]
            low = torch.mm(x, low_weight.T, out=lows[: len(x)])  # (n, V) logits, and then their gradient
            if counts is not None:
                row_counts = counts[start : start + chunk, None]
                parts = [row_sums(low, right, row_counts, bias, smoothing, d_bias, with_gradient)]
            else:
                blocks = zip(torch.split(low, _CPU_BLOCK), torch.split(right, _CPU_BLOCK), strict=True)
                parts = [block.sums(*each, d_bias, with_gradient) for each in blocks]
            for sums in parts:
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
            None,
        )


def _rows_at_a_time(weight: Tensor, dtype: torch.dtype) -> int:
    """Return the rows whose logits and log-probabilities fit into the memory that a GPU sets aside for them."""
    return max(1, logits_bytes(weight.device) // (len(weight) * (dtype.itemsize + torch.float32.itemsize)))


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
    if backend(vectors.device).is_asynchronous:
        counts = real.flatten().float()
        # Zeros take no part in the gradient of the weight.
        vectors, targets = vectors.masked_fill(~real[..., None], 0.0).flatten(0, 1), targets.flatten()
    else:
        counts, vectors, targets = None, vectors[real], targets[real]
    # PyTorch leaves `apply` untyped.
    smoothed, nll = _ChunkedCrossEntropy.apply(vectors, weight, bias, targets, counts, smoothing, dtype)  # type: ignore[no-untyped-call]
    return Loss(smoothed, nll, real.sum())
