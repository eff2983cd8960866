"""Activations between the boxes of Figure 1 for one sentence pair.

Embeddings, every Add & Norm and the logits have hook points. The output of a sub-layer before the addition is computed
from its heads or its inner values.

Shape legend: S source positions, T target positions, d = d_model, V = vocab_size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from transformer_core.hooks.points import Captured, Point, capture
from transformer_core.model.transformer import Transformer

Side = Literal["encoder", "decoder"]
Sublayer = Literal["self_attention", "cross_attention", "feed_forward"]
SUBLAYERS: dict[Side, tuple[Sublayer, ...]] = {
    "encoder": ("self_attention", "feed_forward"),
    "decoder": ("self_attention", "cross_attention", "feed_forward"),
}
_POINTS: tuple[Point, ...] = ("embeddings", "attention_output", "activations", "ffn_output", "residual", "logits")


@dataclass(frozen=True, eq=False)
class Activation:
    """Output of a box of Figure 1.

    Args:
        side: Stack.
        name: `embedding`, `positions`, a sub-layer, `add_norm` or `linear`.
        layer: From 0; None outside the layers.
        sublayer: The sub-layer itself, or the one before an `add_norm`; None elsewhere.
        values: (S or T, d), of `linear` (T, V); one row for each position.
        hidden: (S or T, d_ff) inner values of a feed-forward network, after max(0, ...); None elsewhere.
    """

    side: Side
    name: str
    layer: int | None
    sublayer: Sublayer | None
    values: Tensor
    hidden: Tensor | None = None


@torch.no_grad()
def record_activations(model: Transformer, source: Tensor, inputs: Tensor) -> tuple[Activation, ...]:
    """Record all activations in the order of computation, from the source's embedding to the logits.

    Args:
        model: In evaluation mode, without dropout between a sub-layer and its sum.
        source: (1, S) ids, ending with `</s>`, without padding.
        inputs: (1, T) ids that the decoder reads: `<s>` and the target.

    Raises:
        ValueError: More than one sentence.
    """
    if len(source) != 1 or len(inputs) != 1:
        raise ValueError(f"source and inputs have {len(source)} and {len(inputs)} rows, but must be one sentence")
    mask = torch.ones_like(source, dtype=torch.bool)[:, None, None]  # (1, 1, 1, S)
    with capture(model, _POINTS) as seen:
        model(source, inputs, mask)
    of_source = (model.source_embedding or model.embedding)(source)[0]
    activations = [
        *_side(model, "encoder", of_source, seen),
        *_side(model, "decoder", model.embedding(inputs)[0], seen),
    ]
    activations.append(Activation("decoder", "linear", None, None, seen["decoder.logits"][0]))
    return tuple(activations)


def _side(model: Transformer, side: Side, embedded: Tensor, seen: Captured) -> list[Activation]:
    """List the activations of one stack."""
    activations = [
        Activation(side, "embedding", None, None, embedded),
        Activation(side, "positions", None, None, seen[f"{side}.embeddings"][0]),
    ]
    for layer in range(model.config.num_layers):
        for sublayer in SUBLAYERS[side]:
            address = f"{side}.layers.{layer}.{sublayer}"
            ffn = sublayer == "feed_forward"
            inner = seen[f"{address}.activations"][0] if ffn else None
            out = seen[f"{address}.{'ffn_output' if ffn else 'attention_output'}"][0]
            activations.append(Activation(side, sublayer, layer, sublayer, out, inner))
            activations.append(Activation(side, "add_norm", layer, sublayer, seen[f"{address}_add_norm.residual"][0]))
    return activations
