"""Linearized model of one run: an affine map of the embeddings, so that every state is a sum over origins.

Attention weights, the standard deviation of every LayerNorm and the gates of every ReLU keep the values of the run.
The rest is affine: W^V, W^O, W_1, W_2, the residual connections, and LayerNorm, whose mean is linear. So every state is
a sum of parts: one from the embedding of each token, word and position apart, and one from all biases (of the
projections, and beta of every LayerNorm).

Shape legend: A origins, the biases last; n positions, Q queries, K keys, H heads, S source and T target positions,
d = d_model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from transformer_core.analysis.ablation import hook_point_name
from transformer_core.analysis.frozen import Stack, deviation, embedded, normed_parts
from transformer_core.analysis.teacher_forced_run import SUBLAYERS, TeacherForcedRun
from transformer_core.attention_maps import Kind
from transformer_core.model.attention import MultiHeadAttention
from transformer_core.model.layers import AddAndNorm, FeedForward
from transformer_core.translator import Translator

By = Literal["part", "token", "role"]
BY: tuple[By, ...] = get_args(By)


@dataclass(frozen=True)
class Origin:
    """Origin of a part of a state.

    Args:
        role: The embedding of a word, of a position, of both (token), or the biases.
        side: `source`, or `target` for decoder inputs; None for the biases, or for all tokens together.
        position: Of the token, from 0; None for the biases, or for all tokens together.
    """

    role: Literal["word", "position", "token", "bias"]
    side: Literal["source", "target"] | None = None
    position: int | None = None


class LinearizedModel:
    """Linearized network of a run.

    Args:
        translator: The model, without active edits; its activation must be ReLU beyond the first attention.
        run: A run with `embeddings`, `weights` and `activations` captured.
        by: Origins: word and position of each token (part); each token (token); all words, all positions (role).
        check: Called before every layer.
    """

    def __init__(self, translator: Translator, run: TeacherForcedRun, by: By, check: Callable[[], None]) -> None:
        self.model, self.run, self.by, self.check = translator.model, run, by, check
        self.layers = translator.config.num_layers
        source, target = self._embedded("encoder"), self._embedded("decoder")
        self._of_source = len(source)
        # Sources come before targets; roles are the same on both sides.
        before = source.new_zeros(0 if by == "role" else len(source), *target.shape[1:])
        bias = torch.zeros_like
        self._start: dict[Stack, Tensor] = {
            "encoder": _normed(torch.cat([source, bias(source[:1])]), self.model.encoder.embedding_norm),
            "decoder": _normed(torch.cat([before, target, bias(target[:1])]), self.model.decoder.embedding_norm),
        }

    def origins(self, stack: Stack) -> tuple[Origin, ...]:
        """Return (A,) origins of the encoder's states (source tokens) or the decoder's (source, then target tokens)."""
        bias = Origin("bias")
        if self.by == "role":
            return Origin("word"), Origin("position"), bias
        result: list[Origin] = []
        for side, ids in (("source", self.run.source), ("target", self.run.inputs))[: 1 if stack == "encoder" else 2]:
            for role in ("word", "position") if self.by == "part" else ("token",):
                result += [Origin(role, side, position) for position in range(ids.shape[1])]  # type: ignore[arg-type]
        return *result, bias

    def read(self, kind: Kind, layer: int) -> tuple[Tensor, Tensor]:
        """Return the input of an attention: (A, Q, d) for its queries, (A, K, d) for its keys and values."""
        if kind == "encoder":
            state = self._encoder(layer)
        else:
            memory = self._memory() if layer or kind == "cross" else None
            state = self._decoder(layer, memory)
            if kind == "cross":
                assert memory is not None
                state = self._attend("decoder", layer, state)
        state = self._before(kind, layer, state)
        return (state, memory) if kind == "cross" else (state, state)  # type: ignore[return-value]

    def _embedded(self, stack: Stack) -> Tensor:
        """Return the embeddings, each with its own origin: (A - biases, n, d)."""
        words, places = embedded(self.model, stack, self.run.source if stack == "encoder" else self.run.inputs)
        if self.by == "role":
            return torch.stack([words, places])
        return torch.cat([_apart(each) for each in ([words, places] if self.by == "part" else [words + places])])

    def _encoder(self, layers: int) -> Tensor:
        state = self._start["encoder"]
        for layer in range(layers):
            self.check()
            state = self._feed_forward("encoder", layer, self._attend("encoder", layer, state))
        return state

    def _memory(self) -> Tensor:
        """Return the encoder's output, (A, S, d)."""
        return _normed(self._encoder(self.layers), self.model.encoder.norm)

    def _decoder(self, layers: int, memory: Tensor | None) -> Tensor:
        state = self._start["decoder"]
        for layer in range(layers):
            self.check()
            assert memory is not None
            state = self._attend("decoder", layer, state)
            state = self._feed_forward("decoder", layer, self._attend("cross", layer, state, memory))
        return state

    def _before(self, kind: Kind, layer: int, state: Tensor) -> Tensor:
        """Apply the LayerNorm before an attention, if there is one."""
        add_norm = self._part(kind, layer, f"{SUBLAYERS[kind]}_add_norm")
        assert isinstance(add_norm, AddAndNorm)
        return frozen_norm(state, add_norm.norm) if add_norm.pre_norm else state

    def _attend(self, kind: Kind, layer: int, state: Tensor, memory: Tensor | None = None) -> Tensor:
        """Apply an attention sub-layer with its Add & Norm."""
        attention = self._part(kind, layer, SUBLAYERS[kind])
        assert isinstance(attention, MultiHeadAttention)
        weights = self.run.captured[hook_point_name(kind, layer, "weights")][0].float()  # (H, Q, K)
        read = self._before(kind, layer, state) if memory is None else memory
        values = linear(read, attention.w_v)
        values = values.view(*values.shape[:2], len(weights), -1)  # (A, K, H, d_v)
        heads = torch.einsum("hqk,akhv->aqhv", weights, values)
        out = linear(heads.flatten(2), attention.w_o)
        return self._add_norm(kind, layer, SUBLAYERS[kind], state, self._placed(out, len(state)))

    def _placed(self, out: Tensor, count: int) -> Tensor:
        """Insert zeros for target origins, which the decoder has between source origins and biases."""
        if len(out) == count:
            return out
        between = out.new_zeros(count - len(out), *out.shape[1:])
        return torch.cat([out[: self._of_source], between, out[self._of_source :]])

    def _feed_forward(self, stack: Stack, layer: int, state: Tensor) -> Tensor:
        """Apply a feed-forward sub-layer with its Add & Norm; each position uses only its open units."""
        network = self._part(stack, layer, "feed_forward")
        add_norm = self._part(stack, layer, "feed_forward_add_norm")
        assert isinstance(network, FeedForward) and isinstance(add_norm, AddAndNorm)
        gates = self.run.captured[f"{stack}.layers.{layer}.feed_forward.activations"][0] > 0  # (n, d_ff)
        read = frozen_norm(state, add_norm.norm) if add_norm.pre_norm else state
        w_1, b_1, w_2 = network.w_1.weight.float(), network.w_1.bias, network.w_2.weight.float().T.contiguous()
        out = torch.empty_like(state)
        for position, gate in enumerate(gates):
            units = gate.nonzero()[:, 0]
            inner = read[:, position] @ w_1[units].T  # (A, units)
            inner[-1] += b_1[units]
            out[:, position] = inner @ w_2[units]
        out[-1] += network.w_2.bias
        return self._add_norm(stack, layer, "feed_forward", state, out)

    def _add_norm(self, kind: Kind, layer: int, sublayer: str, state: Tensor, out: Tensor) -> Tensor:
        add_norm = self._part(kind, layer, f"{sublayer}_add_norm")
        assert isinstance(add_norm, AddAndNorm)
        total = state + out if add_norm.adds else out
        return total if add_norm.pre_norm else frozen_norm(total, add_norm.norm)

    def _part(self, kind: Kind, layer: int, name: str) -> nn.Module:
        stack = self.model.encoder if kind == "encoder" else self.model.decoder
        return stack.layers[layer].get_submodule(name)


def linear(parts: Tensor, layer: nn.Linear, rows: slice = slice(None)) -> Tensor:
    """Apply a projection, or some rows of it, to parts: (A, n, d) -> (A, n, out); the bias goes to the last part."""
    out: Tensor = parts @ layer.weight[rows].float().T
    if layer.bias is not None:
        out[-1] += layer.bias[rows]
    return out


def frozen_norm(parts: Tensor, norm: nn.LayerNorm) -> Tensor:
    """Apply LayerNorm with the standard deviation of the whole sum: (A, n, d); beta goes to the last part."""
    out = normed_parts(parts, norm, deviation(parts.sum(dim=0), norm))
    out[-1] += norm.bias
    return out


def _normed(parts: Tensor, norm: nn.Module) -> Tensor:
    """Apply `frozen_norm` if the module is a LayerNorm."""
    return frozen_norm(parts, norm) if isinstance(norm, nn.LayerNorm) else parts


def _apart(vectors: Tensor) -> Tensor:
    """Put vector i at position i of origin i, zeros elsewhere: (n, d) -> (n, n, d)."""
    out = vectors.new_zeros(len(vectors), *vectors.shape)
    here = torch.arange(len(vectors), device=vectors.device)
    out[here, here] = vectors
    return out
