"""Rank agreement of attributions, and their faithfulness.

Shape legend: R rows, one for each explained token, W words of the sentence, K left-out words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from transformer_core.analysis.attribution.attribute import STEPS, attribute
from transformer_core.analysis.attribution.leave_one_out import answers_without
from transformer_core.analysis.attribution.methods import POINTS, Attribution, Method, Question
from transformer_core.analysis.teacher_forced_run import rows_in_time, stop_check, teacher_forced_run
from transformer_core.progress import expect
from transformer_core.translator import Translator

DRAWS = 8


def kendall_tau_b(a: Tensor, b: Tensor) -> Tensor:
    """Compute Kendall's rank correlation with ties (tau-b, Kendall 1945) of each row: (R, W) twice -> (R,).

    From -1, the opposite order, to 1, the same order; NaN for a row of equal values.
    """
    orders = [(values[:, :, None] - values[:, None]).sign() for values in (a.double(), b.double())]  # (R, W, W)
    first, second = orders
    untied = (first.abs().sum(dim=(1, 2)) * second.abs().sum(dim=(1, 2))).sqrt()
    return (first * second).sum(dim=(1, 2)) / untied


def agreement(a: Attribution, b: Attribution) -> float:
    """Return Kendall's tau-b of two attributions, the mean over rows.

    It compares absolute values, without `</s>`. NaN if no row has an order, as with one word.

    Raises:
        ValueError: The sentences, translations or contrasts differ.
    """
    if not torch.equal(a.run.source, b.run.source) or not torch.equal(a.run.outputs, b.run.outputs):
        raise ValueError("the attributions are of different sentences or translations")
    if a.source.shape != b.source.shape:
        raise ValueError("one attribution is of a contrast, the other is not")
    return float(kendall_tau_b(a.sizes, b.sizes).nanmean())


def mean_agreement(translator: Translator, sources: Iterable[str], *, methods: Sequence[Method]) -> dict[Method, float]:
    """Return each method's mean `agreement` with leave-one-out, on the model's own translations.

    Args:
        translator: The model.
        sources: Sentences; one without an order, as with one word, does not count.
        methods: Some of `METHODS`; leave-one-out itself is skipped.
    """
    taus: dict[Method, list[float]] = {method: [] for method in methods if method != "leave-one-out"}
    for source in sources:
        run = teacher_forced_run(translator, source, points=POINTS)
        yardstick = attribute(translator, run, method="leave-one-out")
        for method, values in taus.items():
            values.append(agreement(attribute(translator, run, method=method, steps=STEPS), yardstick))
    return {method: float(np.nanmean(values)) for method, values in taus.items()}


@dataclass(frozen=True)
class Faithfulness:
    """Fall of the log-probability in nats when 1, 2, ..., K words of the sentence, or heads, are left out.

    Args:
        first: (K,) with the words or heads that the method ranks first. For words, the mean over rows.
        last: (K,) with the ones that it ranks last.
        random: (K,) with random ones, the mean over draws.
    """

    first: Tensor
    last: Tensor
    random: Tensor


def faithfulness(
    translator: Translator,
    attribution: Attribution,
    *,
    words: int = 3,
    draws: int = DRAWS,
    seed: int = 0,
    should_stop: Callable[[], bool] | None = None,
) -> Faithfulness:
    """Leave out the words that a method ranks first in each row (comprehensiveness, DeYoung et al. 2020).

    Words are masked as in leave-one-out, so that method does best with one word.

    Args:
        translator: The attributed model.
        attribution: Of any method; words are ranked by absolute value.
        words: K, the largest number of left-out words; the sentence may have fewer.
        draws: Random orders.
        seed: Of the draws.
        should_stop: Called before every batch.

    Raises:
        DecodingStopped: `should_stop` returned True.
    """
    sizes = attribution.sizes.cpu()  # (R, W)
    rows, count = sizes.shape
    left_out = min(words, count)
    generator = torch.Generator().manual_seed(seed)
    falling = sizes.argsort(dim=1, descending=True, stable=True)
    drawn = torch.stack([torch.randperm(count, generator=generator) for _ in range(draws)])
    orders = torch.cat([falling, falling.flip(1), drawn])  # (R + R + draws, W)
    masked = torch.zeros(len(orders), left_out, count, dtype=torch.bool)
    for k in range(left_out):
        masked[:, k].scatter_(1, orders[:, : k + 1], True)
    # Many rows rank the same words first; each set is computed once.
    sets, which = torch.unique(masked.flatten(0, 1), dim=0, return_inverse=True)
    at_once = rows_in_time(attribution.run.source.shape[1], attribution.run.inputs.shape[1])
    expect(should_stop, -(-(len(sets) + 1) // at_once))
    drops = (
        _drops(translator, attribution, sets, stop_check(should_stop))[which].view(len(orders), left_out, rows).cpu()
    )
    each = torch.arange(rows)
    return Faithfulness(
        first=drops[each, :, each].mean(dim=0),
        last=drops[rows + each, :, each].mean(dim=0),
        random=drops[2 * rows :].mean(dim=(0, 2)),
    )


def _drops(translator: Translator, attribution: Attribution, sets: Tensor, check: Callable[[], None]) -> Tensor:
    """Return the fall of the log-probability without each set of words: (B, W) -> (B, R)."""
    run, labels = attribution.run, attribution.source_axis
    hidden = torch.zeros(len(sets) + 1, len(labels), dtype=torch.bool)
    for position, (word, special) in enumerate(zip(labels.words, labels.special, strict=True)):
        if not special:
            hidden[1:, position] = sets[:, word]
    question = Question.of(run, attribution.contrast)
    answers = answers_without(translator, run, question, hidden.to(run.source.device), of_source=True, check=check)
    return answers[:1] - answers[1:]
