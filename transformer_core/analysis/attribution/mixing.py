"""Attribution through all layers: what a layer mixes, multiplied from the embeddings to the last state.

Both methods say of every attention sub-layer which share of each position comes from which other, rows that sum to 1.
They differ in these shares:

* `rollout` (Abnar and Zuidema 2020): half the attention weights, averaged over heads, and half the residual connection.
* `alti` (Ferrando, Gallego and Costa-jussa 2022): how much nearer T_i(x_j) brings the output y_i. c_ij = max(0,
  ||y_i||_1 - ||y_i - T_i(x_j)||_1), rows divided by their sum. The L1 norm is part of the method.

The encoder's shares are multiplied. In the decoder the relevances of source and target are carried together, since
encoder-decoder attention adds the source to what its residual keeps (ALTI+). Feed-forward networks mix no positions.

Shape legend: S source positions, T target positions, Q queries, K keys.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from transformer_core.analysis.attribution.sublayer import SubLayer
from transformer_core.analysis.forced_run import ForcedRun
from transformer_core.attention_maps import Kind

if TYPE_CHECKING:
    from transformer_core.translator import Translator

Mixing = Literal["rollout", "alti"]


@torch.no_grad()
def through_layers(
    translator: Translator, run: ForcedRun, method: Mixing, check: Callable[[], None]
) -> tuple[Tensor, Tensor]:
    """(T, S) and (T, T); each row of both together sums to 1."""
    (source, target), layers = (run.source.shape[1], run.inputs.shape[1]), range(translator.config.num_layers)

    def shares(kind: Kind, layer: int) -> Tensor:
        check()
        return mixing_shares(SubLayer.of(translator.model, run, kind, layer), method)

    eye = torch.eye(max(source, target), device=run.source.device)
    encoder = eye[:source, :source]
    for layer in layers:
        encoder = shares("encoder", layer) @ encoder
    from_source, from_target = eye.new_zeros(target, source), eye[:target, :target]
    for layer in layers:
        own, cross = shares("decoder", layer), shares("cross", layer)
        kept = cross[:, -1:] * own
        from_source, from_target = kept @ from_source + cross[:, :-1] @ encoder, kept @ from_target
    sums = from_source.sum(dim=1) + from_target.sum(dim=1)
    assert torch.allclose(sums, torch.ones_like(sums), atol=1e-4), "shares must sum to 1"
    return from_source, from_target


def mixing_shares(sublayer: SubLayer, method: Mixing) -> Tensor:
    """Of every position, the share of each key: (Q, K), or (Q, K + 1) in encoder-decoder attention, residual last.

    Rows sum to 1. A position to which nothing is added keeps what it was.
    """
    found = _halves(sublayer) if method == "rollout" else _nearer(sublayer)
    sums = found.sum(dim=1, keepdim=True)
    if sublayer.kind == "cross":
        unmoved = torch.zeros_like(found)
        unmoved[:, -1] = 1.0
    else:
        unmoved = torch.eye(len(found), device=found.device)
    return torch.where(sums > 0, found / sums.where(sums > 0, 1.0), unmoved)


def _halves(sublayer: SubLayer) -> Tensor:
    weights = sublayer.weights.mean(dim=0)  # (Q, K)
    if sublayer.kind == "cross":
        return 0.5 * torch.cat([weights, torch.ones_like(weights[:, :1])], dim=1)
    return 0.5 * weights + 0.5 * torch.eye(len(weights), device=weights.device)


def _nearer(sublayer: SubLayer) -> Tensor:
    rows = []
    for queries in sublayer.groups():
        output, vectors = sublayer.output(queries), sublayer.vectors(queries)
        distances = (output[:, None] - vectors).abs().sum(dim=-1)  # (q, K)
        rows.append((output.abs().sum(dim=-1, keepdim=True) - distances).clamp(min=0.0))
    return torch.cat(rows)


@torch.no_grad()
def cross_contributions(translator: Translator, run: ForcedRun, layer: int) -> Tensor:
    """ALTI's shares of the source in the encoder-decoder attention of one layer, which align words best.

    Args:
        translator: The model.
        run: A run with all `POINTS` captured.
        layer: Counted from 0.

    Returns:
        (T, S); what is missing to 1 in a row is the residual's.
    """
    return mixing_shares(SubLayer.of(translator.model, run, "cross", layer), "alti")[:, :-1]
