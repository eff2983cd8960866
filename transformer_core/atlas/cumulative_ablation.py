"""How many heads can go? BLEU and chrF against the number of heads that are left, in several orders.

    effect     the head whose mean-ablation costs least goes first
    reverse    the head whose mean-ablation costs most goes first
    gradient   the least important by the gradient goes first (Michel, Levy and Neubig 2019), each layer's importances
               divided by their norm, as they do
    greedy     always the head whose removal costs least log-probability now, those before it being off already
    random     drawn, with several seeds

Heads of a kind alone, or all together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np

from transformer_core.analysis.ablation import Head, ablated, all_heads
from transformer_core.analysis.effects.cumulative_ablation import random_order
from transformer_core.analysis.effects.head_effects import head_effects
from transformer_core.atlas.decoding import decode_without
from transformer_core.atlas.record import Curve, Effects, FloatArray, Pruned
from transformer_core.atlas.resumable_map import Bench, Results
from transformer_core.attention_maps import KINDS
from transformer_core.translator import SourceTooLong, Translator

STEPS = 10
TOP_HEADS = 10  # heads; how much the model loses without just these is asked, too
SEEDS = 3
_Order = tuple[str, int | None, list[Head]]


def measure_pruning(
    bench: Bench,
    translator: Translator,
    pairs: Sequence[Sequence[str]],
    *,
    effects: Effects,
    greedy: int,
    seed: int,
) -> Pruned:
    """Every curve.

    Args:
        bench: Where the work is done.
        translator: The same model.
        pairs: Sentences and references.
        effects: What was measured of the same model.
        greedy: Sentences, the first, on which the greedy order is found; 0 for none.
        seed: Of the first random order.

    Raises:
        ValueError: No sentence can be read.
    """
    groups: dict[str, list[Head]] = {"all": all_heads(translator)}
    groups |= {kind: _of_kind(translator, kind) for kind in KINDS}
    planned = [(name, *each) for name, heads in groups.items() for each in _orders(heads, effects, seed)]
    if greedy:
        items = [[[list(head) for head in heads], [list(pair) for pair in pairs[:greedy]]] for heads in groups.values()]
        for (name, heads), found in zip(groups.items(), bench.run(greedy_order, items, "greedy order"), strict=True):
            planned.append((name, "greedy", None, [heads[number] for number in found["order"].tolist()]))
    wanted: dict[tuple[Head, ...], int] = {}
    for _, _, _, removed in planned:
        for count in kept_counts(len(removed)):
            wanted.setdefault(tuple(sorted(removed[: len(removed) - count])), len(wanted))
    _, scores, read = decode_without(bench, pairs, list(wanted))
    curves = []
    for name, order, own, removed in planned:
        kept = kept_counts(len(removed))
        sets = [tuple(sorted(removed[: len(removed) - count])) for count in kept]
        of_curve = tuple(scores[wanted[each]] for each in sets)
        curves.append(Curve(heads=name, order=order, seed=own, removed=tuple(removed), kept=kept, scores=of_curve))
    return Pruned(sentences=read, greedy_sentences=min(greedy, len(pairs)), curves=tuple(curves))


def kept_counts(heads: int) -> tuple[int, ...]:
    """How many heads are left: all, all but TOP_HEADS, and from all down to none in STEPS equal steps."""
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
    for own in range(seed, seed + SEEDS):
        yield "random", own, random_order(heads, own)


def _normed(importance: FloatArray) -> FloatArray:
    """(L, H) divided by the norm of each layer."""
    norm = np.linalg.norm(importance, axis=1, keepdims=True)
    return np.asarray(importance / np.where(norm > 0, norm, 1.0))


def greedy_order(translator: Translator, item: Any) -> Results:
    """(N,) numbers of heads in the order in which they go, the log-probability of given translations deciding.

    The item holds heads and pairs. Heads that are off stay off while the effects of all others are measured.
    """
    given, pairs = item
    left = [cast(Head, tuple(head)) for head in given]
    numbers = {head: number for number, head in enumerate(left)}
    read = [pair for pair in pairs if _fits(translator, pair)]
    off: list[Head] = []
    while left:
        cost: FloatArray = np.zeros((len(KINDS), translator.config.num_layers, translator.config.num_heads))
        with ablated(translator, off):
            for source, target in read:
                effects = head_effects(translator, source, target).effects
                cost += np.stack([effects[kind].double().sum(dim=2).cpu().numpy() for kind in KINDS])
        costs = [cost[KINDS.index(kind), layer, head] for kind, layer, head in left]
        off.append(left.pop(int(np.argmin(costs))))
    return {"order": np.array([numbers[head] for head in off])}


def _fits(translator: Translator, pair: Sequence[str]) -> bool:
    try:
        translator.encode_target(pair[1])
        return len(translator.encode(pair[0])) > 0
    except SourceTooLong:
        return False
