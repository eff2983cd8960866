"""Direct logit attribution: a logit as a sum over everything that is added to the residual stream of the decoder.

Divided by its measured standard deviation, every LayerNorm is linear, and so is the logit in all that was added. In a
post-norm model every LayerNorm above a part scales it; in a pre-norm model, only the last one (nostalgebraist 2020;
Elhage et al. 2021). Encoder heads have no direct part: they reach the logit only through encoder-decoder heads.

Shape legend: L layers, H heads, S source positions, T target positions, V = vocab_size, d = d_model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from transformer_core.analysis.attribution.methods import POINTS as POINTS
from transformer_core.analysis.attribution.methods import by_words, source_axis
from transformer_core.analysis.frozen import below_norm, deviation, embedded
from transformer_core.analysis.sublayer import SubLayer
from transformer_core.analysis.teacher_forced_run import TeacherForcedRun, teacher_forced_run
from transformer_core.attention_maps import Kind
from transformer_core.model.layers import DecoderLayer
from transformer_core.translator import Translation, Translator

_KINDS: tuple[Kind, ...] = ("cross", "decoder")  # from the top of a layer down
_TOLERANCE = 1e-3  # of the sum, relative to the largest part


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DirectEffects:
    """Parts of the logit of a token, or of the difference of two, in nats.

    Args:
        run: The teacher-forced run.
        position: Number of the generated token, from 0.
        tokens: The token, or the two of the difference.
        logit: The model's own.
        parts: `cross` (L, H, S) by head and source token; `decoder` (L, H, T) by head and decoder input;
            `feed_forward` (L,); `embedding` and `positional_encoding` of the decoder's input; `biases`: of W^O, beta of
            LayerNorms, the output bias, edited heads.
    """

    run: TeacherForcedRun
    position: int
    tokens: tuple[str, ...]
    logit: float
    parts: dict[str, Tensor]

    @property
    def total(self) -> float:
        """Sum of all parts; equals `logit`."""
        return sum(float(part.sum()) for part in self.parts.values())

    @property
    def heads(self) -> dict[Kind, Tensor]:
        """Parts of heads, (L, H), of `decoder` and `cross`."""
        return {kind: self.parts[kind].sum(dim=2) for kind in reversed(_KINDS)}

    @property
    def source_words(self) -> list[tuple[str, float]]:
        """Source words, and what all encoder-decoder heads together bring in from each."""
        axis = source_axis(self.run)
        values = by_words(self.parts["cross"].sum(dim=(0, 1))[None], axis)[0].tolist()
        return list(zip(axis.word_texts[: len(values)], values, strict=True))

    def __repr__(self) -> str:
        name = " - ".join(f"logit({token})" for token in self.tokens)
        sums = " ".join(f"{float(part.sum()):+.2f} {name}" for name, part in self.parts.items())
        return f"{name} of token {self.position + 1} is {self.logit:.2f} nats\n= {sums}"


@torch.no_grad()
def direct_effects(
    translator: Translator,
    source: str | TeacherForcedRun,
    target: str | Translation | None = None,
    *,
    position: int = 0,
    tokens: Sequence[int] = (),
) -> DirectEffects:
    """Return the direct parts of logit(token), or of logit(token) - logit(other).

    Args:
        translator: The model.
        source: A sentence; or a run with `POINTS` captured, which several calls share.
        target: Its translation; None takes the model's own. See `teacher_forced_run`.
        position: Number of the generated token, from 0.
        tokens: Ids of the token and perhaps of another; none takes the generated token.

    Raises:
        ValueError: There is no such position or token; or the residual stream is edited, so that no sum is exact.
        SourceTooLong: See `Translator.encode`.
    """
    run = (
        source
        if isinstance(source, TeacherForcedRun)
        else teacher_forced_run(translator, source, target, points=POINTS)
    )
    model, count, size = translator.model, len(run.outputs), translator.config.vocab_size
    if not 0 <= position < count:
        raise ValueError(f"position is {position}, but must be from 0 to {count - 1}")
    ids = list(tokens) or [int(run.outputs[position])]
    if len(ids) > 2 or not all(0 <= token < size for token in ids):
        raise ValueError(f"tokens is {ids}, but must be one or two ids from 0 to {size - 1}")

    def contrast(values: Tensor) -> Tensor:  # (V, ...) -> (...)
        return values[ids[0]].float() - values[ids[1:]].float().sum(dim=0)

    # From the top down. The part of what was added to a state is its product with this direction, (d,).
    direction, here, layers = contrast(model.output_weight), slice(position, position + 1), model.decoder.layers
    last = run.residual("decoder", len(layers) - 1, "feed_forward")[0, position]
    direction, biases = _below(model.decoder.norm, last, direction)
    by_part: dict[str, list[Tensor]] = {"decoder": [], "cross": [], "feed_forward": []}
    for number in reversed(range(len(layers))):
        layer = layers[number]
        assert isinstance(layer, DecoderLayer)
        add_norm, adds = layer.feed_forward_add_norm, layer.feed_forward_add_norm.adds
        out = layer.feed_forward.w_2(run.captured[f"decoder.layers.{number}.feed_forward.activations"][0, position])
        before = run.residual("decoder", number, "cross_attention")[0, position]
        direction, beta = _below(None if add_norm.pre_norm else add_norm.norm, out + before * adds, direction)
        by_part["feed_forward"].append(out @ direction)
        for kind in _KINDS:
            attention, biases, direction = SubLayer.of(model, run, kind, number), biases + beta, direction * adds
            direction, beta = _below(attention.norm, attention.total(here)[0], direction)
            by_part[kind].append(attention.weights[:, position] * (attention.messages @ direction))  # (H, S | T)
            beta = beta + attention.constant[position] @ direction
        biases, direction = biases + beta, direction * adds
    word, place = (each[position] for each in embedded(model, "decoder", run.inputs))
    direction, beta = _below(model.decoder.embedding_norm, word + place, direction)
    result = DirectEffects(
        run=run,
        position=position,
        tokens=translator.tokenizer.tokens(ids),
        logit=float(contrast(run.captured["decoder.logits"][0, position])),
        parts={
            "embedding": word @ direction,
            "positional_encoding": place @ direction,
            **{name: torch.stack(parts[::-1]) for name, parts in by_part.items()},
            "biases": biases + beta + (0 if model.output_bias is None else contrast(model.output_bias)),
        },
    )
    if abs(result.total - result.logit) > _TOLERANCE * (
        1 + max(float(part.abs().max()) for part in result.parts.values())
    ):
        raise ValueError("the parts do not sum to the logit, since an edit of the residual stream is active")
    return result


def _below(norm: nn.Module | None, total: Tensor, direction: Tensor) -> tuple[Tensor, Tensor]:
    """Carry a direction, (d,), down through the LayerNorm of a sum, (d,); return it and the part of beta."""
    if not isinstance(norm, nn.LayerNorm):
        return direction, direction.new_zeros(())
    return below_norm(direction, norm, deviation(total, norm)), norm.bias @ direction
