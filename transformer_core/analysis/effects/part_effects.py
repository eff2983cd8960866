"""Effects of larger parts on a translation: sub-layers, whole layers, and single source words.

The effect is the log-probability of every token with the part, minus without it, in nats; see `head_effects`.

Shape legend: N parts, T tokens of the translation, W source words, R rows, n positions, d = d_model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from transformer_core.analysis.ablation import hook_point_name
from transformer_core.analysis.attribution import attribute
from transformer_core.analysis.attribution.methods import source_axis
from transformer_core.analysis.teacher_forced_run import TeacherForcedRun, changed_log_p, stop_check, teacher_forced_run
from transformer_core.attention_maps import Kind
from transformer_core.hooks.hook_sites import Point, Site
from transformer_core.hooks.points import Edit, edit
from transformer_core.progress import expect
from transformer_core.short_repr import ShortRepr
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
        sublayer: `self_attention` or `cross_attention`: the outputs of all heads become zero. `feed_forward`: its inner
            layer becomes zero. Only the bias of the last projection is left. `layer`: its output is its input.
        layer: Index of the layer.
    """

    stack: str
    sublayer: Sublayer
    layer: int

    def __str__(self) -> str:
        return f"{self.stack}.{self.layer + 1} {self.sublayer}"

    @property
    def address(self) -> str:
        """Hook point at which the part is switched off."""
        if self.sublayer == "layer":
            return f"{self.stack}.layers.{self.layer}.feed_forward_add_norm.residual"
        point = "activations" if self.sublayer == "feed_forward" else "head_outputs"
        return f"{self.stack}.layers.{self.layer}.{self.sublayer}.{point}"

    @property
    def input_address(self) -> str:
        """Hook point of the layer's input."""
        if self.layer == 0:
            return f"{self.stack}.embeddings"
        return f"{self.stack}.layers.{self.layer - 1}.feed_forward_add_norm.residual"


@dataclass(frozen=True)
class PartEffects(ShortRepr):
    """Effects of all parts and of all source words.

    Args:
        run: The unchanged run.
        parts: (N,) in the order of stacks, layers, sub-layers.
        effects: (N, T) nats.
        words: (W,) words of the sentence, without `</s>`.
        word_effects: (W, T) nats, with the word masked everywhere; see `leave_one_out`.
    """

    run: TeacherForcedRun
    parts: tuple[Part, ...]
    effects: Tensor
    words: tuple[str, ...]
    word_effects: Tensor


def all_parts(translator: Translator) -> list[Part]:
    """List every sub-layer and every layer."""
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
    """Measure the effects of sub-layers, layers and source words on a translation.

    Args:
        translator: The model. Active edits stay active.
        source: A sentence.
        target: Its translation; None takes the model's own. See `teacher_forced_run`.
        should_stop: Called before every batch.

    Raises:
        ValueError: The sentence is empty.
        SourceTooLong: See `Translator.encode`.
        DecodingStopped: `should_stop` returned True.
    """
    run = teacher_forced_run(translator, source, target, points=_POINTS)
    parts, words = all_parts(translator), _words(run)
    size = run.batch_size(translator.config)
    expect(should_stop, sum(-(-count // size) for count in (len(parts), len(words) + 2, len(run.outputs) + 1)))
    without = changed_log_p(
        translator, run, parts, lambda group: _without_parts(translator, enumerate(group)), stop_check(should_stop)
    )
    left_out = attribute(translator, run, method="leave-one-out", should_stop=should_stop)
    tokens = source_axis(run).tokens
    return PartEffects(
        run=run,
        parts=tuple(parts),
        effects=run.log_p - without,
        words=tuple("".join(tokens[at] for at in positions) for positions in words),
        word_effects=torch.stack([left_out.source[:, positions].sum(dim=1) for positions in words]),
    )


def _without_parts(translator: Translator, missing: Iterable[tuple[int | slice, Part]]) -> ExitStack:
    """Context in which rows of a batch lack a part."""
    stack = ExitStack()
    for rows, part in missing:
        keep, put = _in_rows(rows)
        if part.sublayer == "layer":
            stack.enter_context(edit(translator.model, part.input_address, keep))
        stack.enter_context(edit(translator.model, part.address, put))
    return stack


def _in_rows(rows: int | slice) -> tuple[Edit, Edit]:
    """Return an edit that keeps the value of rows, and one that puts it back; without the first, it puts 0."""
    stored: list[Tensor | float] = [0.0]

    def keep(value: Tensor, _site: Site) -> None:
        stored[0] = value[rows]

    def put(value: Tensor, _site: Site) -> Tensor:
        changed = value.clone()
        changed[rows] = stored[0]
        return changed

    return keep, put


def translate_without(
    translator: Translator,
    source: str,
    missing: Part | int,
    *,
    beam: int | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Translation:
    """Translate a sentence with a part switched off or a word masked, as in `part_effects`.

    Args:
        translator: The model.
        source: A sentence.
        missing: A part, or the number of a word in `PartEffects.words`.
        beam: Hypotheses kept at each step; None takes the checkpoint's default.
        should_stop: See `Translator.translate`.

    Raises:
        ValueError: The sentence has no such word.
    """
    without = (
        _without_parts(translator, [(slice(None), missing)])
        if isinstance(missing, Part)
        else _word_masked(translator, source, missing)
    )
    with without:
        return translator.translate(source, beam=beam, should_stop=should_stop)


@contextmanager
def _word_masked(translator: Translator, source: str, word: int) -> Iterator[None]:
    members = _words(teacher_forced_run(translator, source, ""))
    if not 0 <= word < len(members):
        raise ValueError(f"word is {word}, but the sentence has {len(members)} words")

    def hide(scores: Tensor, _site: Site) -> Tensor:
        hidden = scores.clone()
        hidden[..., members[word]] = -math.inf
        return hidden

    kinds: tuple[Kind, ...] = ("encoder", "cross")
    layers = range(translator.config.num_layers)
    with edit(translator.model, [hook_point_name(kind, layer, "scores") for kind in kinds for layer in layers], hide):
        yield


def _words(run: TeacherForcedRun) -> list[list[int]]:
    """Return the token positions of each word."""
    axis = source_axis(run)
    by_word: dict[int, list[int]] = {}
    for position, (word, special) in enumerate(zip(axis.words, axis.special, strict=True)):
        if not special:
            by_word.setdefault(word, []).append(position)
    return list(by_word.values())
