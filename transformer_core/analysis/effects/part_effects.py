"""What larger parts do to a translation: sub-layers, whole layers, and single source words.

The effect is the log-probability of every token with the part, minus without it, in nats; see `head_effects`.

Shape legend: N parts, T tokens of the translation, W source words, R rows, n positions, d = d_model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from transformer_core.analysis.ablation import hook_point_name
from transformer_core.analysis.attribution import attribute_run
from transformer_core.analysis.attribution.methods import source_axis
from transformer_core.analysis.teacher_forced_run import (
    TeacherForcedRun,
    log_probabilities,
    rows_at_once,
    teacher_forced_run,
)
from transformer_core.attention_maps import Kind
from transformer_core.decoding.beam import DecodingStopped
from transformer_core.hooks.hook_sites import Point, Site
from transformer_core.hooks.points import Edit, edit
from transformer_core.progress import expect

if TYPE_CHECKING:
    from transformer_core.translator import Translation, Translator

Sublayer = Literal["self_attention", "cross_attention", "feed_forward", "layer"]
SUBLAYERS: dict[str, tuple[Sublayer, ...]] = {
    "encoder": ("self_attention", "feed_forward", "layer"),
    "decoder": ("self_attention", "cross_attention", "feed_forward", "layer"),
}
_POINTS: tuple[Point, ...] = ("weights", "residual", "embeddings")


@dataclass(frozen=True)
class Part:
    """A part of the model.

    Args:
        stack: `encoder` or `decoder`.
        sublayer: An attention: the outputs of all its heads are zero. `feed_forward`: its inner layer is zero. Of both
            only the biases of the last projection are left. `layer`: what goes in comes out.
        layer: Counted from 0.
    """

    stack: str
    sublayer: Sublayer
    layer: int

    @property
    def address(self) -> str:
        """The hook point at which it is switched off."""
        if self.sublayer == "layer":
            return f"{self.stack}.layers.{self.layer}.feed_forward_add_norm.residual"
        point = "activations" if self.sublayer == "feed_forward" else "head_outputs"
        return f"{self.stack}.layers.{self.layer}.{self.sublayer}.{point}"

    @property
    def input_address(self) -> str:
        """The hook point of what the layer reads."""
        if self.layer == 0:
            return f"{self.stack}.embeddings"
        return f"{self.stack}.layers.{self.layer - 1}.feed_forward_add_norm.residual"


@dataclass(frozen=True)
class PartEffects:
    """The effects of all parts and of all source words.

    Args:
        run: The unchanged run.
        parts: (N,) in the order of stacks, layers, sub-layers.
        effects: (N, T) nats.
        words: (W,) the words of the sentence; `</s>` is none.
        word_effects: (W, T) nats: nobody may attend to the word, see `leave_one_out`.
    """

    run: TeacherForcedRun
    parts: tuple[Part, ...]
    effects: Tensor
    words: tuple[str, ...]
    word_effects: Tensor


def all_parts(translator: Translator) -> list[Part]:
    """Every sub-layer and every layer."""
    return [
        Part(stack, sublayer, layer)
        for stack, sublayers in SUBLAYERS.items()
        for layer in range(translator.config.num_layers)
        for sublayer in sublayers
    ]


def part_effects(
    translator: Translator,
    source: str,
    target: str | Translation | None = None,
    *,
    should_stop: Callable[[], bool] | None = None,
) -> PartEffects:
    """Measure what sub-layers, layers and source words do to a translation.

    Args:
        translator: The model. Edits that are active in this context stay active.
        source: A sentence.
        target: Its translation; None takes the model's own. See `teacher_forced_run`.
        should_stop: Called before every batch.

    Raises:
        ValueError: The sentence is empty.
        SourceTooLong: See `Translator.encode`.
        DecodingStopped: `should_stop` returned True.
    """
    run = teacher_forced_run(translator, source, target, points=_POINTS)
    parts = all_parts(translator)
    size = rows_at_once(translator.config, run.source.shape[1], run.inputs.shape[1])
    words = _words(run)
    expect(should_stop, sum(-(-count // size) for count in (len(parts), len(words) + 2, len(run.outputs) + 1)))
    found = []
    for start in range(0, len(parts), size):
        if should_stop is not None and should_stop():
            raise DecodingStopped
        found.append(_log_p_without(translator, run, parts[start : start + size]))
    left_out = attribute_run(translator, run, method="leave-one-out", should_stop=should_stop)
    tokens = source_axis(run).tokens
    return PartEffects(
        run=run,
        parts=tuple(parts),
        effects=run.log_p - torch.cat(found),
        words=tuple("".join(tokens[at] for at in positions) for positions in words),
        word_effects=torch.stack([left_out.source[:, positions].sum(dim=1) for positions in words]),
    )


@torch.no_grad()
def _log_p_without(translator: Translator, run: TeacherForcedRun, parts: Sequence[Part]) -> Tensor:
    """(R, T): a part missing in each row."""
    rows = len(parts)
    with ExitStack() as stack:
        for row, part in enumerate(parts):
            value = run.captured[part.input_address][0] if part.sublayer == "layer" else 0.0
            stack.enter_context(edit(translator.model, part.address, _in_row(row, value)))
        logits = translator.model(
            run.source.expand(rows, -1), run.inputs.expand(rows, -1), run.source_mask.expand(rows, -1, -1, -1)
        )
    return log_probabilities(logits, run.outputs)


def _in_row(row: int, put: Tensor | float) -> Edit:
    def change(value: Tensor, _site: Site) -> Tensor:
        changed = value.clone()
        changed[row] = put
        return changed

    return change


def translate_without_part(
    translator: Translator,
    source: str,
    part: Part,
    *,
    beam: int | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Translation:
    """Translate a sentence with a part switched off, as in `part_effects`.

    Args:
        translator: The model.
        source: A sentence.
        part: What is switched off.
        beam: Hypotheses kept at each step; None takes the checkpoint's default.
        should_stop: As of `Translator.translate`.
    """
    last: list[Tensor] = []

    def remember(value: Tensor, _site: Site) -> None:
        last[:] = [value]

    def skip(_value: Tensor, _site: Site) -> Tensor:
        return last[0]

    def nothing(value: Tensor, _site: Site) -> Tensor:
        return torch.zeros_like(value)

    with ExitStack() as stack:
        if part.sublayer == "layer":
            stack.enter_context(edit(translator.model, part.input_address, remember))
        change = skip if part.sublayer == "layer" else nothing
        stack.enter_context(edit(translator.model, part.address, change))
        return translator.translate(source, beam=beam, should_stop=should_stop)


def translate_without_word(
    translator: Translator,
    source: str,
    word: int,
    *,
    beam: int | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Translation:
    """Translate a sentence while nobody may attend to one of its words.

    Args:
        translator: The model.
        source: A sentence.
        word: Its number among `PartEffects.words`.
        beam: Hypotheses kept at each step; None takes the checkpoint's default.
        should_stop: As of `Translator.translate`.

    Raises:
        ValueError: The sentence has no such word.
    """
    members = _words(teacher_forced_run(translator, source, ""))
    if not 0 <= word < len(members):
        raise ValueError(f"word is {word}, but the sentence has {len(members)} words")

    def hide(scores: Tensor, _site: Site) -> Tensor:
        hidden = scores.clone()
        hidden[..., members[word]] = -math.inf
        return hidden

    kinds: tuple[Kind, ...] = ("encoder", "cross")
    layers = range(translator.config.num_layers)
    places = [hook_point_name(kind, layer, "scores") for kind in kinds for layer in layers]
    with edit(translator.model, places, hide):
        return translator.translate(source, beam=beam, should_stop=should_stop)


def _words(run: TeacherForcedRun) -> list[list[int]]:
    """The positions of the tokens of each word."""
    axis = source_axis(run)
    by_word: dict[int, list[int]] = {}
    for position, (word, special) in enumerate(zip(axis.words, axis.special, strict=True)):
        if not special:
            by_word.setdefault(word, []).append(position)
    return list(by_word.values())
