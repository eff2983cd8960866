"""Cumulative ablation: heads switched off one after the other, and the translation that is left.

Effects do not add up: a head that can go alone may be needed once another is gone (Michel, Levy and Neubig 2019).

Shape legend: N heads, L layers, H heads of a layer, R rows, K kinds of attention.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, TypeVar, get_args

import torch
from torch import Tensor

from transformer_core.analysis.ablation import Head, all_heads, hook_point_name
from transformer_core.analysis.attribution.agreement import Faithfulness
from transformer_core.analysis.effects.head_effects import HeadEffects, head_effects
from transformer_core.analysis.effects.head_gradients import gradient_importance
from transformer_core.analysis.teacher_forced_run import TeacherForcedRun, changed_log_p, stop_check, teacher_forced_run
from transformer_core.attention_maps import KINDS
from transformer_core.hooks.hook_sites import Site
from transformer_core.hooks.points import Edit, edit
from transformer_core.progress import expect
from transformer_core.short_repr import ShortRepr
from transformer_core.translator import Translation, Translator

Order = Literal["effect", "gradient", "greedy", "random"]
ORDERS: tuple[Order, ...] = get_args(Order)
TEXTS = 12
MAX_HEADS = 12  # of `head_faithfulness`
DRAWS = 4

Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True)
class CumulativeAblation(ShortRepr):
    """A translation while heads are switched off.

    Args:
        run: The unchanged run.
        heads: (N,) in the order of removal.
        log_p: (N + 1,) of the whole translation in nats, without the first 0, 1, ..., N heads.
        texts: Number of removed heads, and the translation without them.
        random: (`random_orders`, number of `texts`) log-probability at the same steps of drawn orders.
    """

    run: TeacherForcedRun
    heads: tuple[Head, ...]
    log_p: Tensor
    texts: tuple[tuple[int, str], ...]
    random: Tensor


def cumulative_ablation(
    translator: Translator,
    source: str,
    target: str | Translation | None = None,
    *,
    order: Order = "effect",
    texts: int = TEXTS,
    beam: int | None = None,
    seed: int = 0,
    random_orders: int = 0,
    should_stop: Callable[[], bool] | None = None,
) -> CumulativeAblation:
    """Switch off all heads, one after the other.

    Args:
        translator: The model. Active edits stay active.
        source: A sentence.
        target: Its translation; None takes the model's own. See `teacher_forced_run`.
        order: `effect`: smallest effect first. `gradient`: smallest estimate of it first, from one backward pass.
            `greedy`: always the head whose removal costs least now, in N passes. `random`: drawn.
        texts: Number of translations, evenly spread from no head off to all off; at least 2.
        beam: Beam of these translations; None takes the checkpoint's default.
        seed: Of `random`; `random_orders` use the seeds from `seed` + 1 on.
        random_orders: Number of drawn orders to measure for comparison.
        should_stop: Called before every batch and every step of decoding.

    Raises:
        ValueError: The order is unknown, `texts` is below 2, or the sentence is empty.
        SourceTooLong: See `Translator.encode`.
        DecodingStopped: `should_stop` returned True.
    """
    if order not in ORDERS:
        raise ValueError(f"order is {order!r}, but must be one of {', '.join(ORDERS)}")
    if texts < 2:
        raise ValueError(f"texts is {texts}, but must be at least 2")
    run = teacher_forced_run(translator, source, target)
    heads, check = all_heads(translator), stop_check(should_stop)
    expect(should_stop, _checks(translator, run, order, texts, random_orders))
    if order == "random":
        ordered = random_order(heads, seed)
    elif order == "greedy":
        ordered = greedy_order(
            heads, lambda off, remaining: -log_p_without(translator, run, [[*off, head] for head in remaining], check)
        )
    else:
        if order == "effect":
            # The lambda hides `should_stop.expect`: these checks are part of the number above.
            alone = head_effects(translator, source, target, should_stop=lambda: bool(should_stop and should_stop()))
            costs = alone.totals
        else:
            check()
            costs = gradient_importance(translator, run)
        ordered = [heads[number] for number in costs.argsort(stable=True).tolist()]
    log_p = log_p_without(translator, run, [ordered[:count] for count in range(len(ordered) + 1)], check)
    counts = sorted({round(step * len(ordered) / (texts - 1)) for step in range(texts)})
    drawn = [random_order(heads, seed + number + 1) for number in range(random_orders)]
    sets = [each[:count] for each in drawn for count in counts]
    random = log_p_without(translator, run, sets, check).view(random_orders, len(counts))
    with _switched_off(translator, [ordered[:count] for count in counts]):
        translations = translator.translate_batch([source] * len(counts), beam=beam, should_stop=should_stop)
    written = tuple((count, each.text) for count, each in zip(counts, translations, strict=True))
    return CumulativeAblation(run=run, heads=tuple(ordered), log_p=log_p, texts=written, random=random)


def _checks(translator: Translator, run: TeacherForcedRun, order: Order, texts: int, random_orders: int) -> int:
    """Estimate the number of calls of `should_stop`; the length of the translations is not known before."""
    config, number = translator.config, len(all_heads(translator))
    size = run.batch_size(config)
    alone = {"effect": 2 * config.num_layers * -(-number // size), "gradient": 1, "random": 0}
    greedy = sum(-(-remaining // size) for remaining in range(1, number + 1))
    sets = -(-(number + 1) // size) + -(-(texts * random_orders) // size)
    return alone.get(order, greedy) + sets + len(run.outputs)


def head_faithfulness(
    translator: Translator,
    effects: HeadEffects,
    *,
    max_heads: int = MAX_HEADS,
    draws: int = DRAWS,
    seed: int = 0,
    should_stop: Callable[[], bool] | None = None,
) -> Faithfulness:
    """Switch off the heads with the largest effects together, and as many at random.

    This is the comprehensiveness of DeYoung et al. (2020), with heads in place of words. Effects do not add up, so
    the heads that help most alone need not matter most together.

    Args:
        translator: The measured model.
        effects: Effects of any change; heads are ordered by their effect on the whole translation, helpful ones first.
        max_heads: K, the largest number of heads that are off.
        draws: Random orders.
        seed: Of the draws.
        should_stop: Called before every batch.

    Returns:
        (K,) nats each: the fall of the log-probability of the whole translation without the first 1, 2, ..., K.

    Raises:
        DecodingStopped: `should_stop` returned True.
    """
    heads, run = all_heads(translator), effects.run
    count = min(max_heads, len(heads))
    falling = [heads[number] for number in effects.totals.argsort(descending=True, stable=True).tolist()]
    orders = [falling, falling[::-1], *(random_order(heads, seed + draw) for draw in range(draws))]
    sets = [[], *(order[:number] for order in orders for number in range(1, count + 1))]
    expect(should_stop, -(-len(sets) // run.batch_size(translator.config)))
    log_p = log_p_without(translator, run, sets, stop_check(should_stop))
    falls = (log_p[0] - log_p[1:]).view(len(orders), count)
    return Faithfulness(first=falls[0], last=falls[1], random=falls[2:].mean(dim=0))


def random_order(heads: Sequence[Head], seed: int) -> list[Head]:
    """Return the heads in a drawn order."""
    drawn = torch.randperm(len(heads), generator=torch.Generator().manual_seed(seed))
    return [heads[number] for number in drawn.tolist()]


def greedy_order(items: Sequence[Item], costs: Callable[[list[Item], list[Item]], Tensor]) -> list[Item]:
    """Order items by removing the one with the least cost again and again.

    Args:
        items: Such as heads.
        costs: Removed items, and those that are left -> cost of removing each of the latter.
    """
    off: list[Item] = []
    remaining = list(items)
    while remaining:
        off.append(remaining.pop(int(costs(off, remaining).argmin())))
    return off


def log_p_without(
    translator: Translator,
    run: TeacherForcedRun,
    sets: Sequence[Sequence[Head]],
    check: Callable[[], None] = lambda: None,
) -> Tensor:
    """Return (R,) log-probabilities of the translation in nats, without each of R sets of heads."""
    return changed_log_p(translator, run, sets, lambda group: _switched_off(translator, group), check).sum(dim=1)


def _switched_off(translator: Translator, sets: Sequence[Sequence[Head]]) -> AbstractContextManager[None]:
    """Context in which every row of a batch, or every sentence of a search, lacks its own set of heads."""
    config = translator.config
    device = translator.model.output_weight.device
    factors = torch.ones(len(sets), len(KINDS), config.num_layers, config.num_heads, device=device)  # (R, K, L, H)
    for row, heads in enumerate(sets):
        for kind, layer, head in heads:
            factors[row, KINDS.index(kind), layer, head] = 0.0

    def change(kind: int, layer: int) -> Edit:
        def scale(value: Tensor, site: Site) -> Tensor:
            rows = range(len(value)) if site.rows.sentences is None else site.rows.sentences
            return value * factors[list(rows), kind, layer][:, :, None, None].to(value)

        return scale

    places = [(number, layer) for number in range(len(KINDS)) for layer in range(config.num_layers)]
    return edit(translator, {hook_point_name(KINDS[at[0]], at[1], "head_outputs"): change(*at) for at in places})
