"""Attribution through all layers: mixing matrices, multiplied from the embeddings to the last state.

Both methods give each attention sub-layer a matrix of shares: how much of each position comes from each other. Its rows
sum to 1. The methods differ in these shares:

* `rollout` (Abnar and Zuidema 2020): half the attention weights, averaged over heads, and half the residual connection.
* `alti` (Ferrando, Gallego and Costa-jussa 2022): how much nearer T_i(x_j) brings the output y_i. c_ij = max(0,
  ||y_i||_1 - ||y_i - T_i(x_j)||_1), rows divided by their sum. The L1 norm is part of the method.

The encoder's shares are multiplied. In the decoder the relevances of source and target are propagated together, since
encoder-decoder attention adds the source to its residual (ALTI+). Feed-forward networks mix no positions.

Shape legend: S source positions, T target positions, Q queries, K keys.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor

from transformer_core.analysis.sublayer import SubLayer, head_weights
from transformer_core.analysis.teacher_forced_run import TeacherForcedRun
from transformer_core.attention_maps import Kind
from transformer_core.translator import Translator

Mixing = Literal["rollout", "alti"]


@torch.no_grad()
def through_layers(
    translator: Translator, run: TeacherForcedRun, method: Mixing, check: Callable[[], None]
) -> tuple[Tensor, Tensor]:
    """Return (T, S) and (T, T); each row of both together sums to 1."""
    (source, target), layers = (run.source.shape[1], run.inputs.shape[1]), range(translator.config.num_layers)

    def shares(kind: Kind, layer: int) -> Tensor:
        check()
        if method == "rollout":
            return halves(head_weights(run, kind, layer), kind)
        return nearness_shares(SubLayer.of(translator.model, run, kind, layer))

    eye = torch.eye(max(source, target), device=run.source.device)
    encoder = eye[:source, :source]
    for layer in layers:
        encoder = shares("encoder", layer) @ encoder
    from_source, from_target = eye.new_zeros(target, source), eye[:target, :target]
    for layer in layers:
        decoder, cross = shares("decoder", layer), shares("cross", layer)
        residual = cross[:, -1:] * decoder
        from_source, from_target = residual @ from_source + cross[:, :-1] @ encoder, residual @ from_target
    sums = from_source.sum(dim=1) + from_target.sum(dim=1)
    assert torch.allclose(sums, torch.ones_like(sums), atol=1e-4), "shares must sum to 1"
    return from_source, from_target


def halves(weights: Tensor, kind: Kind) -> Tensor:
    """Compute rollout's shares from weights (H, Q, K); shapes as in `nearness_shares`."""
    mean = weights.mean(dim=0)
    if kind == "cross":
        return _rows_of_1(torch.cat([mean, torch.ones_like(mean[:, :1])], dim=1), kind)
    return _rows_of_1(mean + torch.eye(len(mean), device=mean.device), kind)


def nearness_shares(sublayer: SubLayer) -> Tensor:
    """Compute ALTI's shares.

    Returns:
        (Q, K) share of each key in every position; (Q, K + 1) in encoder-decoder attention, the residual last. Rows sum
        to 1. A position to which nothing is added keeps its state.
    """
    rows = []
    for queries in sublayer.groups():
        output, vectors = sublayer.output(queries), sublayer.vectors(queries)
        distances = (output[:, None] - vectors).abs().sum(dim=-1)  # (q, K)
        rows.append((output.abs().sum(dim=-1, keepdim=True) - distances).clamp(min=0.0))
    return _rows_of_1(torch.cat(rows), sublayer.kind)


def _rows_of_1(shares: Tensor, kind: Kind) -> Tensor:
    sums = shares.sum(dim=1, keepdim=True)
    if kind == "cross":
        unmoved = torch.zeros_like(shares)
        unmoved[:, -1] = 1.0
    else:
        unmoved = torch.eye(len(shares), device=shares.device)
    return torch.where(sums > 0, shares / sums.where(sums > 0, 1.0), unmoved)


@torch.no_grad()
def cross_contributions(translator: Translator, run: TeacherForcedRun, layer: int) -> Tensor:
    """Compute ALTI's source shares in the encoder-decoder attention of one layer, which align words best.

    Args:
        translator: The model.
        run: A run with all `POINTS` captured.
        layer: Counted from 0.

    Returns:
        (T, S); the rest to 1 in a row belongs to the residual.
    """
    return nearness_shares(SubLayer.of(translator.model, run, "cross", layer))[:, :-1]
