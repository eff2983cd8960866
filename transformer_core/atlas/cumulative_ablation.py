"""Cumulative ablation: BLEU and chrF against the number of remaining heads, in several orders.

    effect     smallest effect of mean-ablation first
    reverse    largest effect of mean-ablation first
    gradient   smallest gradient importance first, divided by the norm of the layer (Michel, Levy and Neubig 2019)
    greedy     always the head whose removal costs least log-probability now
    random     drawn, with several seeds

Either the heads of one kind are removed, or all heads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from transformer_core.analysis.ablation import Head, ablated, all_heads
from transformer_core.analysis.effects import cumulative_ablation as orders
from transformer_core.analysis.effects.head_effects import head_effects
from transformer_core.analysis.teacher_forced_run import fits
from transformer_core.atlas.decoding import decode_without
from transformer_core.atlas.record import Curve, Effects, FloatArray, Pruned
from transformer_core.atlas.resumable_map import Results, ResumableMap
from transformer_core.attention_maps import KINDS
from transformer_core.translator import Translator

STEPS = 10
TOP_HEADS = 10  # one more point of the curve: the model without these
SEEDS = 3
_Order = tuple[str, int | None, list[Head]]


def measure_cumulative_ablation(
    runner: ResumableMap,
    translator: Translator,
    pairs: Sequence[Sequence[str]],
    *,
    effects: Effects,
    greedy: int,
    seed: int,
) -> Pruned:
    """Measure every curve.

    Args:
        runner: Runs the stages.
        translator: The same model.
        pairs: Sentences and references.
        effects: Measured effects of the same model.
        greedy: Number of first sentences for the greedy order; 0 for none.
        seed: Of the first random order.

    Raises:
        ValueError: No sentence can be read.
    """
    groups: dict[str, list[Head]] = {"all": all_heads(translator)}
    groups |= {kind: _of_kind(translator, kind) for kind in KINDS}
    planned = [(name, *each) for name, heads in groups.items() for each in _orders(heads, effects, seed)]
    if greedy:
        items = [[[list(head) for head in heads], [list(pair) for pair in pairs[:greedy]]] for heads in groups.values()]
        for (name, heads), ranking in zip(groups.items(), runner.run(greedy_order, items, "greedy order"), strict=True):
            planned.append((name, "greedy", None, [heads[number] for number in ranking["order"].tolist()]))
    sets_of_heads: dict[tuple[Head, ...], int] = {}
    for _, _, _, removed in planned:
        for count in kept_counts(len(removed)):
            sets_of_heads.setdefault(tuple(sorted(removed[: len(removed) - count])), len(sets_of_heads))
    _, scores, read = decode_without(runner, pairs, list(sets_of_heads))
    curves = []
    for name, order, order_seed, removed in planned:
        kept = kept_counts(len(removed))
        sets = [tuple(sorted(removed[: len(removed) - count])) for count in kept]
        of_curve = tuple(scores[sets_of_heads[each]] for each in sets)
        curves.append(
            Curve(heads=name, order=order, seed=order_seed, removed=tuple(removed), kept=kept, scores=of_curve)
        )
    return Pruned(sentences=read, greedy_sentences=min(greedy, len(pairs)), curves=tuple(curves))


def kept_counts(heads: int) -> tuple[int, ...]:
    """Return the numbers of remaining heads: all but TOP_HEADS, and from all to none in STEPS equal steps."""
    counts = {round(step * heads / STEPS) for step in range(STEPS + 1)}
    return tuple(sorted(counts | {max(0, heads - TOP_HEADS)}, reverse=True))


def _of_kind(translator: Translator, kind: str) -> list[Head]:
    return [head for head in all_heads(translator) if head[0] == kind]


def _orders(heads: Sequence[Head], effects: Effects, seed: int) -> Iterator[_Order]:
    by_effect = {head: effects.changes["mean"][head[0]].value[head[1], head[2]] for head in heads}
    importance = {kind: _normed(each.value) for kind, each in effects.gradient.items()}
    by_gradient = {head: importance[head[0]][head[1], head[2]] for head in heads}
    rising = sorted(heads, key=by_effect.__getitem__)
    yield "effect", None, rising
    yield "reverse", None, rising[::-1]
    yield "gradient", None, sorted(heads, key=by_gradient.__getitem__)
    for order_seed in range(seed, seed + SEEDS):
        yield "random", order_seed, orders.random_order(heads, order_seed)


def _normed(importance: FloatArray) -> FloatArray:
    """Divide (L, H) by the norm of each layer."""
    norm = np.linalg.norm(importance, axis=1, keepdims=True)
    return np.asarray(importance / np.where(norm > 0, norm, 1.0))


def greedy_order(translator: Translator, item: Any) -> Results:
    """Return (N,) numbers of heads in the order of removal, by the log-probability of given translations.

    The item holds heads and pairs. Removed heads stay off while the effects of the others are measured.
    """
    names, pairs = item
    heads = [cast(Head, tuple(head)) for head in names]
    read = [pair for pair in pairs if fits(translator, *pair)]
    places = {head: number for number, head in enumerate(all_heads(translator))}

    def costs(off: list[Head], remaining: list[Head]) -> Tensor:
        total = torch.zeros(len(places), dtype=torch.float64)
        with ablated(translator, off):
            for source, target in read:
                total += head_effects(translator, source, target).totals.cpu().double()
        return total[[places[head] for head in remaining]]

    return {"order": np.array([heads.index(head) for head in orders.greedy_order(heads, costs)])}
