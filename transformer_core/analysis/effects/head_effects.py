"""Effect of each head on a translation: the log-probability of every token with the head, minus without it.

A weight says where a head looks; only an intervention shows whether that matters (Michel, Levy and Neubig 2019). The
output of one head is replaced, and the model reads the same translation again. Positive effects: the head helped.

All heads are measured in one batch, one head in each row. A row starts at the layer of its head, since all layers
below it equal the unchanged run.

Shape legend: K kinds, L layers, H heads, R rows, S source positions, T target positions, n either, d = d_model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from transformer_core.analysis.ablation import Head, all_heads, hook_point_name
from transformer_core.analysis.frozen import deviation, normed_parts
from transformer_core.analysis.teacher_forced_run import (
    SUBLAYERS,
    TeacherForcedRun,
    batches,
    generated_log_p,
    stop_check,
    teacher_forced_run,
)
from transformer_core.attention_maps import KINDS, Kind
from transformer_core.hooks.hook_sites import Point
from transformer_core.model.attention import MultiHeadAttention
from transformer_core.model.layers import AddAndNorm, DecoderLayer, EncoderLayer
from transformer_core.progress import expect
from transformer_core.short_repr import ShortRepr
from transformer_core.translator import Translation, Translator

Change = Literal["zero", "mean", "resample", "random"]
CHANGES: tuple[Change, ...] = get_args(Change)
DRAWS = 8
MeanOutputs = dict[Kind, list[Tensor]]
"""Kind -> for each layer (H, 1, d_v)."""

_OUTPUTS: tuple[Point, ...] = ("head_outputs",)
_CLEAN: tuple[Point, ...] = (*_OUTPUTS, "residual", "embeddings")


@dataclass(frozen=True)
class HeadEffects(ShortRepr):
    """Effects of all heads on every token of a translation.

    Args:
        run: The unchanged run.
        effects: Kind of attention -> (L, H, T) nats, means over draws; NaN for heads that were not measured.
        draws: Effects of each draw, (D, L, H, T); None without draws.
    """

    run: TeacherForcedRun
    effects: dict[Kind, Tensor]
    draws: dict[Kind, Tensor] | None = None

    @property
    def totals(self) -> Tensor:
        """(heads,) effects on the whole translation, in the order of `all_heads`."""
        return torch.cat([self.effects[kind].sum(dim=2).flatten() for kind in KINDS])


def head_effects(
    translator: Translator,
    source: str,
    target: str | Translation | None = None,
    *,
    change: Change = "zero",
    others: Sequence[tuple[str, str]] = (),
    means: MeanOutputs | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    frozen_norm: bool = False,
    only: Collection[tuple[Kind, int]] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> HeadEffects:
    """Measure the effect of every head on a translation.

    Args:
        translator: The model. Active edits stay active.
        source: A sentence.
        target: Its translation; None takes the model's own. See `teacher_forced_run`.
        change: The replacement of a head's output. `zero`: zeros. `mean`: its mean over `others`. `resample`: its
            output on another sentence at the same position. `random`: its output plus a random vector as long as what
            `zero` takes away, or `mean` if `means` are given: the control of that change.
        others: Sentences and translations for `mean` and `resample`.
        means: Result of `mean_outputs` for `mean`, instead of `others`, and for `random`.
        draws: Number of draws of `resample` and `random`; effects are their means.
        seed: Of the draws.
        frozen_norm: Whether the LayerNorm after the sub-layer divides by the standard deviation of the unchanged run.
            Otherwise the rest of the sub-layer's output grows without the head. Pre-norm has no such norm.
        only: Kinds and layers whose heads are measured; None for all.
        should_stop: Called before every layer.

    Raises:
        ValueError: `others` is empty but needed, or the sentence is empty.
        SourceTooLong: See `Translator.encode`.
        DecodingStopped: `should_stop` returned True.
    """
    run = teacher_forced_run(translator, source, target, points=_CLEAN)
    if change in ("mean", "resample") and not others and not (change == "mean" and means):
        raise ValueError(f"change is {change!r}, which needs other sentences")
    generator = torch.Generator().manual_seed(seed)
    heads = [head for head in all_heads(translator) if only is None or head[:2] in only]
    passes = -(-len(heads) // run.batch_size(translator.config)) * (1 if change in ("zero", "mean") else draws)
    expect(should_stop, 2 * translator.config.num_layers * passes)
    if change in ("zero", "mean"):
        replace = _zero if change == "zero" else _replaced_by(means or mean_outputs(translator, others))
        return HeadEffects(run, _effects(translator, run, heads, replace, frozen_norm, should_stop))
    sampled = []
    for draw in range(draws):
        replace = _random(generator, _replaced_by(means) if means else _zero)
        if change == "resample":
            if draw % len(others) == 0:
                order = torch.randperm(len(others), generator=generator).tolist()
            replace = _replaced_by(_outputs(translator, *others[order[draw % len(others)]]))
        sampled.append(_effects(translator, run, heads, replace, frozen_norm, should_stop))
    stacked = {kind: torch.stack([one[kind] for one in sampled]) for kind in KINDS}
    return HeadEffects(run, {kind: values.mean(dim=0) for kind, values in stacked.items()}, stacked)


def mean_outputs(translator: Translator, pairs: Sequence[tuple[str, str]]) -> MeanOutputs:
    """Return the mean output of every head over sentences and positions: kind -> for each layer (H, 1, d_v)."""
    sums, counts = output_sums(translator, pairs)
    return by_kind(translator, sums / counts[:, None, None, None])


def output_sums(translator: Translator, pairs: Iterable[tuple[str, str]]) -> tuple[Tensor, Tensor]:
    """Sum the outputs of all heads over sentences and positions, (K, L, H, d_v); count the positions, (K,)."""
    config = translator.config
    sums = torch.zeros(len(KINDS), config.num_layers, config.num_heads, config.d_v, dtype=torch.float64)
    counts = torch.zeros(len(KINDS), dtype=torch.float64)
    for pair in pairs:
        for number, layers in enumerate(_outputs(translator, *pair).values()):
            sums[number] += torch.stack([outputs.cpu().double().sum(dim=1) for outputs in layers])
            counts[number] += layers[0].shape[1]
    return sums, counts


def by_kind(translator: Translator, means: Tensor) -> MeanOutputs:
    """Split (K, L, H, d_v) by kind, in the precision and on the device of the model."""
    means = means.to(translator.model.embedding.weight)
    return {kind: [layer[:, None] for layer in means[number]] for number, kind in enumerate(KINDS)}


_Replace = Callable[[Kind, int, Tensor, Tensor], Tensor]
"""Kind, layer, the heads' outputs (H, n, d_v) and their parts of W^O (H, d_v, d) -> added vectors (H, n, d)."""


def _zero(_kind: Kind, _layer: int, outputs: Tensor, parts: Tensor) -> Tensor:
    return -outputs @ parts


def _replaced_by(others: dict[Kind, list[Tensor]]) -> _Replace:
    """Replace by given outputs (H, m, d_v) at the same positions; repeat them where they are too short."""

    def replace(kind: Kind, layer: int, outputs: Tensor, parts: Tensor) -> Tensor:
        other = others[kind][layer]
        places = torch.arange(outputs.shape[1], device=outputs.device) % other.shape[1]
        return (other[:, places] - outputs) @ parts

    return replace


def _random(generator: torch.Generator, matched: _Replace) -> _Replace:
    """Add a random vector as long as what another change adds, at each position."""

    def replace(kind: Kind, layer: int, outputs: Tensor, parts: Tensor) -> Tensor:
        away = matched(kind, layer, outputs, parts)
        drawn = torch.randn(away.shape, generator=generator).to(away)
        length: Tensor = away.norm(dim=2, keepdim=True) / drawn.norm(dim=2, keepdim=True)
        return drawn * length

    return replace


def _outputs(translator: Translator, source: str, target: str | None) -> dict[Kind, list[Tensor]]:
    """Return the output of every head on a sentence: kind -> for each layer (H, n, d_v)."""
    captured = teacher_forced_run(translator, source, target, points=_OUTPUTS).captured
    layers = range(translator.config.num_layers)
    return {kind: [captured[hook_point_name(kind, layer, "head_outputs")][0] for layer in layers] for kind in KINDS}


def _effects(
    translator: Translator,
    run: TeacherForcedRun,
    heads: Sequence[Head],
    replace: _Replace,
    frozen_norm: bool,
    should_stop: Callable[[], bool] | None,
) -> dict[Kind, Tensor]:
    """Return (L, H, T) for each kind; NaN for other heads than the given ones."""
    config = translator.config
    changed = _ChangedRows(translator, run, replace, frozen_norm, should_stop)
    effects = run.log_p.new_full((len(KINDS), config.num_layers, config.num_heads, len(run.outputs)), torch.nan)
    for group in batches(heads, run.batch_size(config), lambda: None):
        kinds, layers, numbers = zip(*group, strict=True)
        effects[[KINDS.index(kind) for kind in kinds], list(layers), list(numbers)] = run.log_p - changed.log_p(group)
    return dict(zip(KINDS, effects, strict=True))


class _ChangedRows:
    """The teacher-forced pass with one head changed in each row."""

    def __init__(
        self,
        translator: Translator,
        run: TeacherForcedRun,
        replace: _Replace,
        frozen_norm: bool,
        should_stop: Callable[[], bool] | None,
    ) -> None:
        self._model, self._config, self._run = translator.model, translator.config, run
        self._replace, self._frozen_norm = replace, frozen_norm
        self._check = stop_check(should_stop)

    @torch.no_grad()
    def log_p(self, heads: Sequence[Head]) -> Tensor:
        """Return (len(heads), T) log-probabilities, in the order of the heads."""
        memory, in_encoder = self._encode([head for head in heads if head[0] == "encoder"])
        rows, order = self._decode(memory, in_encoder, [head for head in heads if head[0] != "encoder"])
        values = generated_log_p(self._model, rows, self._run.outputs)
        return values[[order.index(head) for head in heads]]

    def _encode(self, heads: Sequence[Head]) -> tuple[Tensor, list[Head]]:
        """Return the encoder's output in each row, (R, S, d), and the heads of the rows."""
        x, order = self._run.captured["encoder.embeddings"][:0], list[Head]()
        for number, layer in enumerate(self._model.encoder.layers):
            assert isinstance(layer, EncoderLayer)
            self._check()
            attention = layer.self_attention
            if len(x):
                x = layer.self_attention_add_norm(x, lambda x, a=attention: a(x, x, self._run.source_mask))
            new = [head for head in heads if head[1] == number]
            x = torch.cat([x, self._begin("encoder", number, attention, layer.self_attention_add_norm, new)])
            order += new
            if len(x):
                x = layer.feed_forward_add_norm(x, layer.feed_forward)
        return self._model.encoder.norm(x), order

    def _decode(self, memory: Tensor, order: list[Head], heads: Sequence[Head]) -> tuple[Tensor, list[Head]]:
        """Return the decoder's output in each row, (R, T, d), and the heads of the rows, encoder heads first."""
        clean = self._model.encoder.norm(self._run.residual("encoder", self._config.num_layers - 1, "feed_forward"))
        memories = torch.cat([memory, clean])
        x, order = self._run.captured["decoder.embeddings"].expand(len(memory), -1, -1), list(order)
        of_encoder = len(memory)
        for number, layer in enumerate(self._model.decoder.layers):
            assert isinstance(layer, DecoderLayer)
            self._check()
            self_attention, cross = layer.self_attention, layer.cross_attention
            if len(x):
                x = layer.self_attention_add_norm(x, lambda x, a=self_attention: a(x, x, None))
            new = [head for head in heads if head[:2] == ("decoder", number)]
            x = torch.cat([x, self._begin("decoder", number, self_attention, layer.self_attention_add_norm, new)])
            order += new
            if len(x):
                reads = torch.arange(len(x), device=x.device).clamp(max=of_encoder)  # the last memory is the clean one
                keys, values = (each[reads] for each in cross.project_keys_and_values(memories))
                x = layer.cross_attention_add_norm(
                    x, lambda x, a=cross, k=keys, v=values: a.attend(a.project_queries(x), k, v, self._run.source_mask)
                )
            new = [head for head in heads if head[:2] == ("cross", number)]
            x = torch.cat([x, self._begin("cross", number, cross, layer.cross_attention_add_norm, new)])
            order += new
            if len(x):
                x = layer.feed_forward_add_norm(x, layer.feed_forward)
        return self._model.decoder.norm(x), order

    def _begin(
        self, kind: Kind, layer: int, attention: MultiHeadAttention, add_norm: AddAndNorm, heads: Sequence[Head]
    ) -> Tensor:
        """Return (len(heads), n, d), the output of the sub-layer with one of these heads changed."""
        outputs = self._run.captured[hook_point_name(kind, layer, "head_outputs")][0]  # (H, n, d_v)
        clean = self._run.residual("encoder" if kind == "encoder" else "decoder", layer, SUBLAYERS[kind])  # (1, n, d)
        if not heads:
            return clean[:0]
        numbers = [head for _, _, head in heads]
        parts = attention.w_o.weight.float().view(len(clean[0, 0]), *outputs.shape[::2]).permute(1, 2, 0)  # (H, d_v, d)
        added = self._replace(kind, layer, outputs, parts)[numbers]
        if add_norm.pre_norm:
            return clean + added
        total = attention.w_o(outputs.transpose(0, 1).flatten(1))[None]
        if add_norm.adds:
            total = total + self._run.before(kind, layer)
        if not self._frozen_norm:
            normed: Tensor = add_norm.norm(total + added)
            return normed
        return normed_parts(total + added, add_norm.norm, deviation(total, add_norm.norm)) + add_norm.norm.bias
