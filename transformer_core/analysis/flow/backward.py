"""The backward pass of a frozen model: what every part of a run contributes to some logits.

Attention weights, the standard deviation of each LayerNorm and the gates of the activation keep the values of the run.
The gate of ReLU is 0 or 1; of GELU and swish, which are z g(z), it is g(z). All the rest is affine. So the contribution
of a part is its product with the gradient at it, and the contributions of all states at one height, and of the biases
above, sum to the logit.

Shape legend: N targets, L layers, H heads, n positions, S source and T target positions, Q queries, K keys,
d = d_model, V = vocab_size, P pairs of a target and a position that reaches it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from transformer_core.analysis.frozen import Stack, below_norm, embedded
from transformer_core.analysis.sublayer import frozen_heads
from transformer_core.analysis.teacher_forced_run import SUBLAYERS, TeacherForcedRun
from transformer_core.attention_maps import KINDS, Kind
from transformer_core.hooks.hook_sites import Point
from transformer_core.model.attention import MultiHeadAttention
from transformer_core.model.layers import AddAndNorm, FeedForward
from transformer_core.model.transformer import Transformer

POINTS: tuple[Point, ...] = (
    *("weights", "values", "head_outputs", "activations"),
    *("residual", "scale", "embeddings", "logits"),
)
MAX_NEURONS = 100  # kept of a target
_TOLERANCE = 1e-3  # of the sum, relative to the largest part
_MAX_VALUES = 2**25  # of what one pass keeps: 128 MiB
STACKS: tuple[Stack, ...] = ("encoder", "decoder")


@dataclass(frozen=True)
class Contributions:
    """Contributions to N logits.

    Args:
        logits: (N,)
        words: Stack -> (N, n), of the embedded words.
        positions: Stack -> (N, n), of the positional encodings.
        states: Stack -> (N, L + 1, n), of the layers' inputs, and of the last output before a final LayerNorm.
        residuals: Stack -> (N, L, n), of what passes by a layer's self-attention, along its residual connection.
        memory: (N, L + 1, S), of the encoder's output by encoder-decoder attention from this layer of the decoder up.
        biases: (N, 2 L + 2), of all that enter above each height: the states of the encoder, then of the decoder from
            its first layer up; the last column has all.
        edges: Kind -> (N, L, H, Q, K).
        neurons: (N, M, 4) stack, layer, position and neuron of those that contribute most; and their values, (N, M);
            M is 0 where they are not asked for.
    """

    logits: Tensor
    words: dict[Stack, Tensor]
    positions: dict[Stack, Tensor]
    states: dict[Stack, Tensor]
    residuals: dict[Stack, Tensor]
    memory: Tensor
    biases: Tensor
    edges: dict[Kind, Tensor]
    neurons: tuple[Tensor, Tensor]


def contributions(
    model: Transformer,
    run: TeacherForcedRun,
    positions: Tensor,
    tokens: Tensor,
    others: Tensor | None = None,
    *,
    neurons: bool = True,
) -> Iterator[Contributions]:
    """Split the logits of tokens, each minus the mean over the vocabulary, or minus the logit of another token.

    Args:
        model: Without edits of the residual stream.
        run: A run with `POINTS` captured.
        positions: Of the targets.
        tokens: Their ids.
        others: Other ids, or None for the mean.
        neurons: Whether to look for the neurons that contribute most, a fifth of the time.

    Yields:
        Contributions of as many of them as fit into memory.

    Raises:
        ValueError: The residual stream is edited, so that no sum is exact.
    """
    config, (s, t) = model.config, (run.source.shape[1], run.inputs.shape[1])
    edges = config.num_layers * config.num_heads * (s * s + s * t + t * t)
    size = max(1, _MAX_VALUES // (edges + 4 * max(s, t) * config.d_ff))
    for start in range(0, len(tokens), size):
        part = slice(start, start + size)
        other = None if others is None else others[part]
        yield _together(model, run, positions[part], tokens[part], other, neurons)


@torch.no_grad()
def _together(
    model: Transformer, run: TeacherForcedRun, positions: Tensor, tokens: Tensor, others: Tensor | None, neurons: bool
) -> Contributions:
    """Return the contributions to the logits of N tokens; positions, tokens and others are (N,)."""

    def contrast(values: Tensor) -> Tensor:  # (V, ...) -> (N, ...)
        rest = values.mean(dim=0, dtype=torch.float32) if others is None else values[others].float()
        return values[tokens].float() - rest

    logits = run.captured["decoder.logits"][0]  # (T, V)
    rows = logits[positions].float()
    rest = rows.mean(dim=1) if others is None else rows.gather(1, others[:, None])[:, 0]
    gradient = rows.new_zeros(len(tokens), len(logits), model.config.d_model)
    gradient[torch.arange(len(tokens)), positions] = contrast(model.output_weight)
    biases = rows.new_zeros(len(tokens)) if model.output_bias is None else contrast(model.output_bias)
    result = _Backward(model, run, gradient, biases, neurons).contributions(
        rows.gather(1, tokens[:, None])[:, 0] - rest
    )
    parts = torch.cat([*result.words.values(), *result.positions.values(), result.biases[:, -1:]], dim=1)
    if bool(((parts.sum(dim=1) - result.logits).abs() > _TOLERANCE * (1 + parts.abs().amax(dim=1))).any()):
        raise ValueError("the parts do not sum to the logit, since an edit of the residual stream is active")
    return result


class _Backward:
    """One pass from the logits down; `biases` (N,) grows on the way."""

    def __init__(
        self, model: Transformer, run: TeacherForcedRun, gradient: Tensor, biases: Tensor, neurons: bool
    ) -> None:
        self.model, self.run, self.gradient, self.biases = model, run, gradient, biases
        self.layers = model.config.num_layers
        self.heights = list[Tensor]()
        self.states: dict[Stack, list[Tensor]] = {stack: [] for stack in STACKS}
        self.residuals: dict[Stack, list[Tensor]] = {stack: [] for stack in STACKS}
        self.edges: dict[Kind, list[Tensor]] = {kind: [] for kind in KINDS}
        nothing = gradient.new_zeros(len(gradient), 0)
        self.neurons = [(nothing[..., None].expand(-1, -1, 4).long(), nothing)]
        self.looks_for_neurons = neurons

    def contributions(self, logits: Tensor) -> Contributions:
        """Run down through decoder and encoder; logits are (N,)."""
        model, run = self.model, self.run
        memory = model.encoder.norm(run.residual("encoder", self.layers - 1, "feed_forward"))[0]
        of_memory, by_memory = self.gradient.new_zeros(len(logits), *memory.shape), []
        gradient = self._norm("decoder.norm", self.gradient)
        for layer in reversed(range(self.layers)):
            by_memory.append(_dot(memory, of_memory))
            gradient = self._feed_forward("decoder", layer, self._state("decoder", layer + 1, gradient))
            gradient, of_keys = self._attention("cross", layer, gradient)
            of_memory = of_memory + of_keys
            gradient = sum(self._attention("decoder", layer, gradient), start=torch.zeros(()))
        by_memory.append(_dot(memory, of_memory))
        at_embeddings: dict[Stack, Tensor] = {"decoder": self._state("decoder", 0, gradient)}
        self.heights.pop()  # the encoder's output has the same height, with the biases of its norm
        gradient = self._norm("encoder.norm", of_memory)
        for layer in reversed(range(self.layers)):
            gradient = self._feed_forward("encoder", layer, self._state("encoder", layer + 1, gradient))
            gradient = sum(self._attention("encoder", layer, gradient), start=torch.zeros(()))
        at_embeddings["encoder"] = self._state("encoder", 0, gradient)
        words, positions = dict[Stack, Tensor](), dict[Stack, Tensor]()
        for stack, ids in zip(STACKS, (run.source, run.inputs), strict=True):
            gradient = self._norm(f"{stack}.embedding_norm", at_embeddings[stack])
            words[stack], positions[stack] = (_dot(each, gradient) for each in embedded(model, stack, ids))
        where, values = (torch.cat(each, dim=1) for each in zip(*self.neurons, strict=True))
        top = values.abs().topk(min(MAX_NEURONS, values.shape[1])).indices
        return Contributions(
            logits=logits,
            words=words,
            positions=positions,
            states={stack: torch.stack(each[::-1], dim=1) for stack, each in self.states.items()},
            residuals={stack: torch.stack(each[::-1], dim=1) for stack, each in self.residuals.items()},
            memory=torch.stack(by_memory[::-1], dim=1),
            biases=torch.stack([*self.heights[::-1], self.biases], dim=1),
            edges={kind: torch.stack(each[::-1], dim=1) for kind, each in self.edges.items()},
            neurons=(where.gather(1, top[..., None].expand(-1, -1, 4)), values.gather(1, top)),
        )

    def _state(self, stack: Stack, layer: int, gradient: Tensor) -> Tensor:
        """Keep the contribution of a layer's input, and of the biases above it; return the gradient."""
        self.states[stack].append(_dot(self._input(stack, layer), gradient))
        self.heights.append(self.biases)
        return gradient

    def _input(self, stack: Stack, layer: int) -> Tensor:
        """Return (n, d), the input of a layer, or the output of the last."""
        if layer:
            return self.run.residual(stack, layer - 1, "feed_forward")[0]
        return self.run.captured[f"{stack}.embeddings"][0]

    def _norm(self, name: str, gradient: Tensor) -> Tensor:
        """Carry a gradient down through a LayerNorm, if there is one."""
        norm = self.model.get_submodule(name)
        if not isinstance(norm, nn.LayerNorm):
            return gradient
        self.biases = self.biases + (gradient @ norm.bias).sum(dim=1)
        return below_norm(gradient, norm, self.run.captured[f"{name}.scale"][0])

    def _sublayer(
        self, stack: Stack, layer: int, name: str, gradient: Tensor, inside: Callable[[Tensor], Tensor]
    ) -> tuple[Tensor, Tensor]:
        """Return the gradients at a residual connection and at what the sub-layer reads, both (N, n, d)."""
        site = f"{stack}.layers.{layer}.{name}_add_norm"
        add_norm = self.model.get_submodule(site)
        assert isinstance(add_norm, AddAndNorm)
        if not add_norm.pre_norm:
            gradient = self._norm(f"{site}.norm", gradient)
        read = inside(gradient)
        if add_norm.pre_norm and name != "cross_attention":  # whose keys are normed above the encoder
            read = self._norm(f"{site}.norm", read)
        return gradient * add_norm.adds, read

    def _attention(self, kind: Kind, layer: int, gradient: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients at the residual connection, (N, Q, d), and at the input of the values, (N, K, d)."""
        stack: Stack = "encoder" if kind == "encoder" else "decoder"
        attention = self.model.get_submodule(f"{stack}.layers.{layer}.{SUBLAYERS[kind]}")
        assert isinstance(attention, MultiHeadAttention)
        weights, values, constant = frozen_heads(attention, self.run, kind, layer)

        def inside(gradient: Tensor) -> Tensor:
            self.biases = self.biases + torch.einsum("nqd,qd->n", gradient, constant)
            of_heads = _times(gradient, attention.w_o.weight)
            of_heads = of_heads.view(*of_heads.shape[:2], *values.shape[::2])  # (N, Q, H, d_v)
            self.edges[kind].append(torch.einsum("nqhv,hkv->nhqk", of_heads, values) * weights)
            of_values = torch.einsum("nqhv,hqk->nkhv", of_heads, weights).flatten(2)
            if attention.w_v.bias is not None:
                self.biases = self.biases + (of_values @ attention.w_v.bias).sum(dim=1)
            return _times(of_values, attention.w_v.weight)

        passed, read = self._sublayer(stack, layer, SUBLAYERS[kind], gradient, inside)
        if kind != "cross":
            self.residuals[stack].append(_dot(self._input(stack, layer), passed))
        return passed, read

    def _feed_forward(self, stack: Stack, layer: int, gradient: Tensor) -> Tensor:
        """Return the gradient below a feed-forward network, (N, n, d)."""
        network = self.model.get_submodule(f"{stack}.layers.{layer}.feed_forward")
        assert isinstance(network, FeedForward)
        activations = self.run.captured[f"{stack}.layers.{layer}.feed_forward.activations"][0].float()  # (n, d_ff)

        def inside(gradient: Tensor) -> Tensor:
            reached = gradient.any(dim=2)
            targets, places = reached.nonzero(as_tuple=True)
            rows = gradient[reached]  # (P, d)
            inner = rows @ network.w_2.weight.float()  # (P, d_ff)
            if self.looks_for_neurons:
                self._keep_neurons(stack, layer, reached, inner * activations[places])
            inner = inner * self._gates(stack, layer, network, activations)[places]
            of_biases = inner @ network.w_1.bias + rows @ network.w_2.bias
            self.biases = self.biases.index_add(0, targets, of_biases)
            below = torch.zeros_like(gradient)
            below[reached] = inner @ network.w_1.weight.float()
            return below

        passed, read = self._sublayer(stack, layer, "feed_forward", gradient, inside)
        return passed + read

    def _gates(self, stack: Stack, layer: int, network: FeedForward, activations: Tensor) -> Tensor:
        """Return (n, d_ff), the factor g of every activation z g(z); 0 where the activation is."""
        if self.model.config.activation == "relu":
            return (activations > 0).float()
        before = self.run.residual(stack, layer, "cross_attention" if stack == "decoder" else "self_attention")[0]
        add_norm = self.model.get_submodule(f"{stack}.layers.{layer}.feed_forward_add_norm")
        assert isinstance(add_norm, AddAndNorm)
        z = network.w_1(add_norm.norm(before) if add_norm.pre_norm else before)
        return torch.where((activations == 0) | (z == 0), 0.0, network.activation(z) / z)

    def _keep_neurons(self, stack: Stack, layer: int, reached: Tensor, values: Tensor) -> None:
        """Keep the neurons of a layer that contribute most to each target; values are (P, d_ff)."""
        full = values.new_zeros(*reached.shape, values.shape[1])
        full[reached] = values
        flat = full.flatten(1)  # (N, n * d_ff)
        top = flat.abs().topk(min(MAX_NEURONS, flat.shape[1])).indices
        place = [torch.full_like(top, STACKS.index(stack)), torch.full_like(top, layer)]
        where = torch.stack([*place, top // values.shape[1], top % values.shape[1]], dim=2)
        self.neurons.append((where, flat.gather(1, top)))


def _dot(values: Tensor, gradients: Tensor) -> Tensor:
    """Return the products over d of (n, d) and (N, n, d): (N, n)."""
    return (values * gradients).sum(dim=-1)


def _times(rows: Tensor, matrix: Tensor) -> Tensor:
    """Multiply rows, (N, n, a), by a matrix, (a, b), without those that are 0 throughout."""
    reached = rows.any(dim=2)
    out = rows.new_zeros(*rows.shape[:2], matrix.shape[1])
    out[reached] = rows[reached] @ matrix.float()
    return out
