"""Decomposition of an attention sub-layer into one vector for each key, for norms and ALTI.

Head h gives query i the sum over keys j of alpha_ij f_h(x_j), with f_h(x) = (x W^V_h + b) W^O_h. LayerNorm is linear
once it divides by the standard deviation of the actual sum (Kobayashi et al. 2021). So the output is a sum of vectors,
one for each key and one for the residual connection, plus a constant that belongs to no token: the bias of W^O, the
beta of LayerNorm, and the replacement of an edited head.

Shape legend: H heads, Q queries, K keys, q some of the queries, d = d_model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from transformer_core.analysis.ablation import hook_point_name
from transformer_core.analysis.frozen import deviation, normed_parts
from transformer_core.analysis.teacher_forced_run import SUBLAYERS, TeacherForcedRun
from transformer_core.attention_maps import Kind
from transformer_core.model.attention import MultiHeadAttention
from transformer_core.model.layers import AddAndNorm
from transformer_core.model.transformer import Transformer

_MAX_VALUES = 2**24  # of the vectors in memory at a time: 64 MiB


def head_weights(run: TeacherForcedRun, kind: Kind, layer: int) -> Tensor:
    """Return (H, Q, K), the captured attention weights of a layer."""
    return run.captured[hook_point_name(kind, layer, "weights")][0]


def frozen_heads(
    attention: MultiHeadAttention, run: TeacherForcedRun, kind: Kind, layer: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Return what heads with frozen weights add up to: weights, values, and the rest, which comes from no key.

    Args:
        attention: The module.
        run: With weights, values and head_outputs captured.
        kind: Kind of attention.
        layer: Counted from 0.

    Returns:
        (H, Q, K) and (H, K, d_v), 0 for an edited head, whose output does not come from the keys; (Q, d), the output
        of such heads and the bias of W^O.
    """
    weights, values, outputs = (
        run.captured[hook_point_name(kind, layer, point)][0].float() for point in ("weights", "values", "head_outputs")
    )
    from_keys = torch.isclose(weights @ values, outputs, rtol=1e-3, atol=1e-4).all(dim=2).all(dim=1)[:, None, None]
    constant = torch.where(from_keys, 0.0, outputs).transpose(0, 1).flatten(1) @ attention.w_o.weight.float().T
    if attention.w_o.bias is not None:
        constant = constant + attention.w_o.bias
    return torch.where(from_keys, weights, 0.0), torch.where(from_keys, values, 0.0), constant


@dataclass(frozen=True)
class SubLayer:
    """Decomposed attention sub-layer of a run.

    Args:
        kind: Kind of attention.
        weights: (H, Q, K).
        messages: (H, K, d), f_h(x_j).
        residual: (Q, d) of the residual connection; zeros without one.
        constant: (Q, d) the rest of the sum, which belongs to no token.
        norm: The LayerNorm after the sum; None for pre-norm.
    """

    kind: Kind
    weights: Tensor
    messages: Tensor
    residual: Tensor
    constant: Tensor
    norm: nn.LayerNorm | None

    @classmethod
    @torch.no_grad()
    def of(cls, model: Transformer, run: TeacherForcedRun, kind: Kind, layer: int) -> SubLayer:
        """Decompose a sub-layer of a run with all `POINTS` captured."""
        stack = model.encoder if kind == "encoder" else model.decoder
        attention = stack.layers[layer].get_submodule(SUBLAYERS[kind])
        add_norm = stack.layers[layer].get_submodule(f"{SUBLAYERS[kind]}_add_norm")
        assert isinstance(attention, MultiHeadAttention) and isinstance(add_norm, AddAndNorm)
        weights, values, constant = frozen_heads(attention, run, kind, layer)
        w_o = attention.w_o.weight.float().view(-1, *values.shape[::2]).permute(1, 2, 0)  # (H, d_v, d)
        before = run.before(kind, layer)[0].float()
        return cls(
            kind=kind,
            weights=weights,
            messages=values @ w_o,
            residual=before if add_norm.adds else torch.zeros_like(before),
            constant=constant,
            norm=None if add_norm.pre_norm else add_norm.norm,
        )

    def groups(self) -> Iterator[slice]:
        """Yield slices of queries whose vectors fit into memory."""
        queries, keys = self.weights.shape[1:]
        size = max(1, _MAX_VALUES // (keys * self.residual.shape[1]))
        return (slice(start, start + size) for start in range(0, queries, size))

    def sums(self, queries: slice) -> Tensor:
        """Return (q, K, d), the sum over heads of alpha_ij f_h(x_j) for each key."""
        return torch.einsum("hqk,hkd->qkd", self.weights[:, queries], self.messages)

    @torch.no_grad()
    def vectors(self, queries: slice) -> Tensor:
        """Return T_i(x_j), the part of each key in the output; the residual belongs to the query's own position.

        Returns:
            (q, K, d) in self-attention; (q, K + 1, d) in encoder-decoder attention, where the residual, which comes
            from no key, is last.
        """
        sums, residual = self.sums(queries), self.residual[queries]
        if self.kind == "cross":
            sums = torch.cat([sums, residual[:, None]], dim=1)
        else:
            here = torch.arange(len(sums), device=sums.device)
            sums[here, here + queries.start] += residual
        return self._normed(sums, queries)

    @torch.no_grad()
    def constants(self, queries: slice) -> Tensor:
        """Return (q, d), the part that belongs to no token; the vectors and this sum to the output."""
        constant = self._normed(self.constant[queries][:, None], queries)[:, 0]
        return constant if self.norm is None else constant + self.norm.bias

    def total(self, queries: slice) -> Tensor:
        """Return (q, d), the sum before the norm."""
        attended = torch.einsum("hqk,hkd->qd", self.weights[:, queries], self.messages)
        return attended + self.residual[queries] + self.constant[queries]

    @torch.no_grad()
    def output(self, queries: slice) -> Tensor:
        """Return (q, d), the output of the sub-layer."""
        total = self.total(queries)
        if self.norm is None:
            return total
        normed: Tensor = self.norm(total)
        return normed

    def _normed(self, vectors: Tensor, queries: slice) -> Tensor:
        """Apply LayerNorm without beta, with the standard deviation of the actual sum: (q, n, d) -> (q, n, d)."""
        if self.norm is None:
            return vectors
        return normed_parts(vectors, self.norm, deviation(self.total(queries), self.norm)[:, None])
