"""How many heads can go? Heads switched off one after the other, and what is left of a translation.

Effects do not add up: a head that can go alone may be needed once another is gone (Michel, Levy and Neubig 2019).

Shape legend: N heads, L layers, H heads of a layer, R rows, T target positions, K kinds of attention.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import torch
from torch import Tensor

from transformer_core.analysis.ablation import Head, all_heads, hook_point_name
from transformer_core.analysis.effects.head_effects import head_effects
from transformer_core.analysis.effects.head_gradients import gradient_importance
from transformer_core.analysis.teacher_forced_run import (
    TeacherForcedRun,
    log_probabilities,
    rows_at_once,
    teacher_forced_run,
)
from transformer_core.attention_maps import KINDS
from transformer_core.decoding.beam import DecodingStopped
from transformer_core.hooks.hook_sites import Site
from transformer_core.hooks.points import Edit, edit
from transformer_core.progress import expect

if TYPE_CHECKING:
    from transformer_core.translator import Translation, Translator

Order = Literal["effect", "gradient", "greedy", "random"]
ORDERS: tuple[Order, ...] = get_args(Order)
TEXTS = 12


@dataclass(frozen=True, kw_only=True)
class CumulativeAblation:
    """What happens to a translation while heads are switched off.

    Args:
        run: The unchanged run.
        heads: (N,) in the order in which they go.
        log_p: (N + 1,) of the whole translation in nats, without the first 0, 1, ..., N heads.
        texts: How many heads are off, and what the model generates then.
        random: (`random_orders`, number of `texts`) the log-probability at the same steps where the order is drawn.
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
        translator: The model. Edits that are active in this context stay active.
        source: A sentence.
        target: Its translation; None takes the model's own. See `teacher_forced_run`.
        order: `effect`: the head whose removal alone costs least goes first. `gradient`: by a first-order estimate of
            that, from one backward pass. `greedy`: always the head whose removal costs least now, which takes N passes.
            `random`: drawn.
        texts: At how many steps, evenly spread from none off to all off, the sentence is translated anew; at least 2.
        beam: Of these translations; None takes the checkpoint's default.
        seed: Of `random`; those beside the chosen order have the seeds from `seed` + 1 on.
        random_orders: How many orders that are drawn to measure beside it, for comparison.
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
    heads = all_heads(translator)

    def check() -> None:
        if should_stop is not None and should_stop():
            raise DecodingStopped

    expect(should_stop, _checks(translator, run, order, texts, random_orders))
    if order == "effect":
        # A function that hears nothing: what the effects expect is a part of what was told.
        alone = head_effects(translator, source, target, should_stop=lambda: bool(should_stop and should_stop()))
        falls = torch.cat([alone.effects[kind].sum(dim=2).flatten() for kind in KINDS])
        ordered = [heads[number] for number in falls.argsort(stable=True).tolist()]
    elif order == "gradient":
        check()
        importance = gradient_importance(translator, run)
        ordered = [heads[number] for number in importance.argsort(stable=True).tolist()]
    elif order == "random":
        ordered = random_order(heads, seed)
    else:
        ordered = _greedy(translator, run, heads, check)
    log_p = log_p_without(translator, run, [ordered[:count] for count in range(len(ordered) + 1)], check)
    counts = sorted({round(step * len(ordered) / (texts - 1)) for step in range(texts)})
    drawn = [random_order(heads, seed + number + 1) for number in range(random_orders)]
    sets = [each[:count] for each in drawn for count in counts]
    random = log_p_without(translator, run, sets, check).view(random_orders, len(counts))
    with _switched_off(translator, _kept(translator, [ordered[:count] for count in counts])):
        found = translator.translate_batch([source] * len(counts), beam=beam, should_stop=should_stop)
    written = tuple((count, each.text) for count, each in zip(counts, found, strict=True))
    return CumulativeAblation(run=run, heads=tuple(ordered), log_p=log_p, texts=written, random=random)


def _checks(translator: Translator, run: TeacherForcedRun, order: Order, texts: int, random_orders: int) -> int:
    """How often it is asked whether to stop, about: the length of the translations is not known before."""
    config, number = translator.config, len(all_heads(translator))
    size = rows_at_once(config, run.source.shape[1], run.inputs.shape[1])
    alone = {"effect": 2 * config.num_layers * -(-number // size), "gradient": 1, "random": 0}
    greedy = sum(-(-left // size) for left in range(1, number + 1))
    sets = -(-(number + 1) // size) + -(-(texts * random_orders) // size)
    return alone.get(order, greedy) + sets + len(run.outputs)


def random_order(heads: Sequence[Head], seed: int) -> list[Head]:
    """The heads in an order that is drawn."""
    drawn = torch.randperm(len(heads), generator=torch.Generator().manual_seed(seed))
    return [heads[number] for number in drawn.tolist()]


@torch.no_grad()
def log_p_without(
    translator: Translator,
    run: TeacherForcedRun,
    sets: Sequence[Sequence[Head]],
    check: Callable[[], None] = lambda: None,
) -> Tensor:
    """(R,) log-probability of the translation in nats, without each of R sets of heads."""
    model = translator.model
    size = rows_at_once(translator.config, run.source.shape[1], run.inputs.shape[1])
    found = []
    for start in range(0, len(sets), size):
        check()
        group = sets[start : start + size]
        rows = len(group)
        with _switched_off(translator, _kept(translator, group)):
            logits = model(
                run.source.expand(rows, -1), run.inputs.expand(rows, -1), run.source_mask.expand(rows, -1, -1, -1)
            )
        found.append(log_probabilities(logits, run.outputs).sum(dim=1))
    return torch.cat(found) if found else torch.empty(0)


def _greedy(
    translator: Translator, run: TeacherForcedRun, heads: Sequence[Head], check: Callable[[], None]
) -> list[Head]:
    """Always the head without which the translation is most probable, those before it being off already."""
    off: list[Head] = []
    left = list(heads)
    while left:
        log_p = log_p_without(translator, run, [[*off, head] for head in left], check)
        off.append(left.pop(int(log_p.argmax())))
    return off


def _kept(translator: Translator, sets: Sequence[Sequence[Head]]) -> Tensor:
    """(R, K, L, H), 0 for the heads of each set and 1 for the others."""
    config = translator.config
    device = translator.model.output_weight.device
    kept = torch.ones(len(sets), len(KINDS), config.num_layers, config.num_heads, device=device)
    for row, heads in enumerate(sets):
        for kind, layer, head in heads:
            kept[row, KINDS.index(kind), layer, head] = 0.0
    return kept


def _switched_off(translator: Translator, kept: Tensor) -> ExitStack:
    """A context in which every row of a batch, or every sentence of a search, is without its own set of heads."""

    def change(kind: int, layer: int) -> Edit:
        def scale(value: Tensor, site: Site) -> Tensor:
            rows = range(len(value)) if site.rows.sentences is None else site.rows.sentences
            return value * kept[list(rows), kind, layer][:, :, None, None].to(value)

        return scale

    stack = ExitStack()
    for number, kind in enumerate(KINDS):
        for layer in range(translator.config.num_layers):
            address = hook_point_name(kind, layer, "head_outputs")
            stack.enter_context(edit(translator.model, address, change(number, layer)))
    return stack
