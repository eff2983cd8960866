"""AttentionOverride attention: rows of weights changed by hand, and what the model makes of it.

Whether a head's weights matter only a change of them tells (Jain and Wallace 2019, Wiegreffe and Pinter 2019). A row
that the model would never make is a change all the same: large effects show what the head can do, not what it does.

Shape legend: S source positions, T tokens of the translation, K keys of a row, V tokens of the vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from transformer_core.analysis.ablation import hook_point_name
from transformer_core.analysis.teacher_forced_run import TeacherForcedRun, log_probabilities, teacher_forced_run
from transformer_core.attention_maps import KINDS, Kind
from transformer_core.hooks.edits import force_prefix
from transformer_core.hooks.hook_sites import Site
from transformer_core.hooks.points import Edit, edit

if TYPE_CHECKING:
    from transformer_core.translator import Translation, Translator

_TOLERANCE = 1e-3  # of the sum of a row


class OverrideError(ValueError):
    """A row that is no row of weights, or that the model does not have."""


@dataclass(frozen=True)
class AttentionOverride:
    """A row of attention weights to put in the place of the model's.

    Args:
        kind: Which attention.
        layer: Counted from 0.
        head: Counted from 0.
        query: Position of the query: a source token, or an input of the decoder; the latter generates the token of the
            same number.
        weights: (K,) for all keys, or as many of the decoder's as the query sees: `query` + 1. They sum to 1.
    """

    kind: Kind
    layer: int
    head: int
    query: int
    weights: tuple[float, ...]


@dataclass(frozen=True)
class Redirected:
    """A translation, as the model reads it with and without the changed rows.

    Args:
        run: The unchanged run.
        log_p: (T,) of each token with the changes, in nats.
        before: (T, V) log-probabilities of all tokens at every step, unchanged.
        after: (T, V) the same with the changes.
    """

    run: TeacherForcedRun
    log_p: Tensor
    before: Tensor
    after: Tensor


@torch.no_grad()
def override_attention(
    translator: Translator, source: str, overrides: Sequence[AttentionOverride], target: str | Translation | None = None
) -> Redirected:
    """Let the model read a sentence and its translation with rows of attention changed.

    Args:
        translator: The model. Edits that are active in this context stay active.
        source: A sentence.
        overrides: The rows; of two for the same place the later one counts.
        target: Its translation; None takes the model's own. See `teacher_forced_run`.

    Raises:
        OverrideError: A row does not sum to 1, has a wrong length, or belongs to no head.
        ValueError: The sentence is empty.
        SourceTooLong: See `Translator.encode`.
    """
    run = teacher_forced_run(translator, source, target)
    check_overrides(translator, overrides, source=run.source.shape[1], target=run.inputs.shape[1])
    before = translator.model(run.source, run.inputs, run.source_mask)
    with redirected(translator, overrides):
        after = translator.model(run.source, run.inputs, run.source_mask)
    return Redirected(
        run=run,
        log_p=log_probabilities(after, run.outputs)[0],
        before=before[0].float().log_softmax(dim=1),
        after=after[0].float().log_softmax(dim=1),
    )


def continue_decoding(
    translator: Translator,
    source: str,
    overrides: Sequence[AttentionOverride],
    target: str | Translation | None = None,
    *,
    kept: int,
    beam: int | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Translation:
    """Generate a translation anew from some token on, with the changes in place.

    Args:
        translator: As of `override_attention`.
        source: As of `override_attention`.
        overrides: As of `override_attention`. Rows of the decoder act when their query is at work, on every hypothesis.
        target: As of `override_attention`.
        kept: With how many tokens of it the new translation begins.
        beam: Hypotheses kept at each step; None takes the checkpoint's default.
        should_stop: As of `Translator.translate`.

    Raises:
        OverrideError: As of `override_attention`.
        ValueError: `kept` is no number of tokens of the translation.
    """
    run = teacher_forced_run(translator, source, target)
    check_overrides(translator, overrides, source=run.source.shape[1], target=run.inputs.shape[1])
    outputs = run.outputs.tolist()
    if not 0 <= kept <= len(outputs):
        raise ValueError(f"kept is {kept}, but the translation has {len(outputs)} tokens")
    with redirected(translator, overrides), edit(translator.model, "decoder.logits", force_prefix(outputs[:kept])):
        return translator.translate(source, beam=beam, should_stop=should_stop)


def redirected(translator: Translator, overrides: Sequence[AttentionOverride]) -> ExitStack:
    """A context in which these rows take the place of the model's own, in every row of a batch."""
    by_place: dict[str, list[AttentionOverride]] = {}
    for each in overrides:
        by_place.setdefault(hook_point_name(each.kind, each.layer, "weights"), []).append(each)
    stack = ExitStack()
    for address, group in by_place.items():
        stack.enter_context(edit(translator.model, address, _put(group)))
    return stack


def _put(group: Sequence[AttentionOverride]) -> Edit:
    def change(weights: Tensor, site: Site) -> Tensor:
        changed = weights.clone()
        queries, keys = weights.shape[2:]
        for each in group:
            row = each.query - site.rows.query_offset
            if 0 <= row < queries:
                given = weights.new_tensor(each.weights[:keys])
                changed[:, each.head, row] = 0.0
                changed[:, each.head, row, : len(given)] = given
        return changed

    return change


def check_overrides(
    translator: Translator, overrides: Sequence[AttentionOverride], *, source: int, target: int
) -> None:
    """Raise OverrideError for what is no row of this model, for a sentence and a translation with so many tokens."""
    config = translator.config
    for each in overrides:
        if each.kind not in KINDS or not (0 <= each.layer < config.num_layers and 0 <= each.head < config.num_heads):
            raise OverrideError(f"the model has no head {each.kind} {each.layer}.{each.head}, counted from 0")
        queries = source if each.kind == "encoder" else target
        if not 0 <= each.query < queries:
            raise OverrideError(f"query is {each.query}, but must be from 0 to {queries - 1}")
        keys = each.query + 1 if each.kind == "decoder" else source
        if len(each.weights) != keys:
            raise OverrideError(f"the row has {len(each.weights)} weights, but this query has {keys} keys")
        if not all(math.isfinite(weight) and weight >= 0 for weight in each.weights):
            raise OverrideError("weights are finite and not negative")
        if abs(sum(each.weights) - 1) > _TOLERANCE:
            raise OverrideError(f"the row sums to {sum(each.weights):.4g}, not to 1")


def without_keys(weights: Sequence[float], keys: Collection[int]) -> tuple[float, ...]:
    """Forbid some keys: the others share their weight in proportion. Raises OverrideError if they have none."""
    rest = sum(weight for key, weight in enumerate(weights) if key not in keys)
    if rest <= 0:
        raise OverrideError("no other key has any weight")
    return tuple(0.0 if key in keys else weight / rest for key, weight in enumerate(weights))


def with_weight(weights: Sequence[float], key: int, weight: float) -> tuple[float, ...]:
    """Give one key a weight from 0 to 1; the others share the rest in proportion, evenly if they have none."""
    others = sum(weights) - weights[key]
    if len(weights) == 1:
        return (1.0,)
    share = (1 - weight) / others if others > 0 else 0.0
    even = 0.0 if others > 0 else (1 - weight) / (len(weights) - 1)
    return tuple(weight if at == key else each * share + even for at, each in enumerate(weights))


def uniform_row(keys: int) -> tuple[float, ...]:
    """The same weight for every key."""
    return (1 / keys,) * keys
