"""Parts of a frozen model: LayerNorm with a fixed standard deviation, forwards and backwards, and the embeddings.

Shape legend: n positions, d = d_model.
"""

from __future__ import annotations

from typing import Literal

from torch import Tensor, nn

from transformer_core.model.transformer import Transformer

Stack = Literal["encoder", "decoder"]


def deviation(total: Tensor, norm: nn.LayerNorm) -> Tensor:
    """Return what LayerNorm divides a sum by: (..., d) -> (..., 1)."""
    return (total.float().var(dim=-1, correction=0, keepdim=True) + norm.eps).sqrt()


def normed_parts(parts: Tensor, norm: nn.LayerNorm, scale: Tensor) -> Tensor:
    """Apply LayerNorm without beta to parts of a sum, (..., d), whose `deviation` is the scale."""
    normed: Tensor = norm.weight * (parts - parts.mean(dim=-1, keepdim=True)) / scale
    return normed


def below_norm(gradients: Tensor, norm: nn.LayerNorm, scale: Tensor) -> Tensor:
    """Carry gradients, (..., d), down through the same LayerNorm: the transpose of `normed_parts`."""
    scaled = norm.weight * gradients
    below: Tensor = (scaled - scaled.mean(dim=-1, keepdim=True)) / scale
    return below


def embedded(model: Transformer, stack: Stack, ids: Tensor) -> tuple[Tensor, Tensor]:
    """Return the embedded words of one sentence and their positions, (n, d) each; ids are (1, n)."""
    embedding, positions = model.embedding, model.positions
    if stack == "encoder":
        embedding, positions = model.source_embedding or embedding, model.source_positions or positions
    return embedding(ids)[0].float(), positions(0, ids.shape[1]).float()
