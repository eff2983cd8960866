"""Source attribution: one function for every method."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal, cast

import torch
from torch import Tensor

from transformer_core.analysis.attribution.gradients import by_gradients
from transformer_core.analysis.attribution.layers import of_layers
from transformer_core.analysis.attribution.leave_one_out import by_leaving_out
from transformer_core.analysis.attribution.methods import (
    METHODS,
    OF_HEADS,
    OF_LAYERS,
    OF_TOKENS,
    SHARES,
    Attribution,
    Contrast,
    Method,
    Question,
    points_of,
)
from transformer_core.analysis.attribution.mixing import through_layers
from transformer_core.analysis.flow.backward import STACKS, contributions
from transformer_core.analysis.teacher_forced_run import TeacherForcedRun, stop_check, teacher_forced_run
from transformer_core.head import Head, place_named
from transformer_core.progress import expect
from transformer_core.translator import Translation, Translator

log = logging.getLogger(__name__)
_LARGE_GAP = 0.05  # of the difference
STEPS = 64  # quick enough for many sentences


def attribute(
    translator: Translator,
    source: str | TeacherForcedRun,
    target: str | Translation | None = None,
    *,
    method: Method,
    at: str | None = None,
    contrast: Contrast | None = None,
    steps: int | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Attribution:
    """Attribute each token of a translation to the source tokens and to the target tokens before it.

    The values:

    * `attention`, `norm`, `norm-ln`: weights or norms of a layer, by default their mean over all layers (and heads, for
      attention). Source and target are two sub-layers, which do not add up to a common sum.
    * `rollout`, `alti`: shares through all layers; source and target of a row sum to 1.
    * `gradient`: norms, nats per unit of the embedding.
    * `grad-x-input`, `integrated-gradients`, `leave-one-out`: signed, nats; positive values support the token.
    * `flow`: signed parts of the logit, minus the mean over the vocabulary; the rest is `report["biases"]`.

    Args:
        translator: The model. Active edits stay active.
        source: A sentence; or a run with all `POINTS` captured, so that several methods share it.
        target: The translation of a sentence; None takes the model's own. See `teacher_forced_run`.
        method: One of `METHODS`.
        at: For `attention`, `norm` and `norm-ln` a layer, such as `cross.6`; for the first two also a head, such as
            `cross.6.8`. Values of the target come from decoder self-attention in the same layer. None takes
            the mean over all layers.
        contrast: For gradients, leave-one-out and flow: explain log p(token) - log p(other) at one position.
        steps: Points on the path of integrated gradients; None takes as many as bring the gap of every row below 1 % or
            0.001 nats, about 1,000 at most. `report` has the `gap` and the `difference` that the row should sum to.
        should_stop: Called before every layer or batch.

    Raises:
        ValueError: The method is unknown, does not take one of the options, or the sentence is empty.
        SourceTooLong: See `Translator.encode`.
        DecodingStopped: `should_stop` returned True.
    """
    check_choice(translator, method=method, at=at, contrast=contrast, steps=steps)
    run = source
    if isinstance(run, str):
        run = teacher_forced_run(translator, run, target, points=points_of(method))
    check = stop_check(should_stop)
    report: dict[str, Tensor] = {}
    if method in OF_LAYERS:
        of_source, of_target = of_layers(translator, run, method, place_named(at) if at else None, check)
    elif method in SHARES:
        of_source, of_target = through_layers(translator, run, cast(Literal["rollout", "alti"], method), check)
    elif method == "flow":
        of_source, of_target, report = _by_flow(translator, run, Question.of(run, contrast), check)
    elif method == "leave-one-out":
        of_source, of_target, report = by_leaving_out(translator, run, Question.of(run, contrast), check)
    else:
        of_source, of_target, report = by_gradients(
            translator, run, Question.of(run, contrast), method, steps, check, partial(expect, should_stop)
        )
        if "gap" in report:
            _warn_of_gap(report)
    return Attribution(method=method, run=run, source=of_source, target=of_target, contrast=contrast, report=report)


def _by_flow(
    translator: Translator, run: TeacherForcedRun, question: Question, check: Callable[[], None]
) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
    """Compute (R, S), (R, T), and the parts of the biases."""
    parts = []
    for part in contributions(translator.model, run, question.positions, question.tokens, question.others):
        check()
        both = (part.words[stack] + part.positions[stack] for stack in STACKS)
        parts.append((*both, part.biases[:, -1]))
    of_source, of_target, biases = (torch.cat(each) for each in zip(*parts, strict=True))
    return of_source, of_target, {"biases": biases}


def _warn_of_gap(report: Mapping[str, Tensor]) -> None:
    gap, steps = report["gap"], int(report["steps"])
    if bool((gap > _LARGE_GAP * report["difference"].abs()).any()):
        log.warning("integrated gradients with steps=%d: sums are off by up to %.2f nats; take more", steps, gap.max())


def check_choice(
    translator: Translator,
    *,
    method: str,
    at: str | None = None,
    contrast: Contrast | None = None,
    steps: int | None = None,
) -> None:
    """Raise ValueError for options that `attribute` does not support, before anything is computed."""
    if method not in METHODS:
        raise ValueError(f"method is {method!r}, but must be one of {', '.join(METHODS)}")
    config = translator.config
    if at is not None:
        place = place_named(at)
        what, allowed = ("head", OF_HEADS) if isinstance(place, Head) else ("layer", OF_LAYERS)
        if method not in allowed:
            raise ValueError(f"{method} takes no {what}; {', '.join(allowed)} do")
        _, layer, head = (*place, 0)[:3]
        if place.kind != "cross" or layer >= config.num_layers or head >= config.num_heads:
            most = f"cross.{config.num_layers}.{config.num_heads}"
            raise ValueError(f"{at} is no {what} of encoder-decoder attention; they go from cross.1.1 to {most}")
    if contrast is not None:
        if method not in OF_TOKENS:
            raise ValueError(f"{method} takes no contrast; {', '.join(OF_TOKENS)} do")
        if not (0 <= contrast.token < config.vocab_size and 0 <= contrast.other < config.vocab_size):
            raise ValueError(f"a contrast names tokens from 0 to {config.vocab_size - 1}")
    if steps is not None and steps < 1:
        raise ValueError(f"steps is {steps}, but must be at least 1")
