"""Attention override: replace rows of weights and measure the effect.

Only a change of a head's weights shows whether they matter (Jain and Wallace 2019, Wiegreffe and Pinter 2019). The
model may never produce such a row: a large effect shows what the head can do, not what it does.

Shape legend: S source positions, T tokens of the translation, K keys of a row, V tokens of the vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import torch
from torch import Tensor

from transformer_core.analysis.ablation import hook_point_name
from transformer_core.analysis.teacher_forced_run import TeacherForcedRun, log_probabilities, teacher_forced_run
from transformer_core.head import Head, head_named
from transformer_core.hooks.hook_sites import Site
from transformer_core.hooks.points import Edit, edit
from transformer_core.translator import Translation, Translator

_TOLERANCE = 1e-3  # of the sum of a row


class OverrideError(ValueError):
    """Override that is not a row of weights, or for a row that the model does not have."""


@dataclass(frozen=True)
class AttentionOverride:
    """Row of attention weights that replaces the model's.

    Args:
        head: Such as `cross.6.8`.
        query: Position of the query: a source token, or a decoder input, which generates the token of the same number.
        weights: (K,) for all keys; in the decoder for the `query` + 1 visible ones. They sum to 1.
    """

    head: str
    query: int
    weights: tuple[float, ...]

    @property
    def place(self) -> Head:
        """Kind and indices of the head. Raises OverrideError if it names none."""
        try:
            return head_named(self.head)
        except ValueError as error:
            raise OverrideError(str(error)) from None


@dataclass(frozen=True)
class Redirected:
    """Log-probabilities of a translation with and without the overrides.

    Args:
        run: The unchanged run.
        log_p: (T,) of each token with the overrides, in nats.
        before: (T, V) log-probabilities of all tokens at every step, without them.
        after: (T, V) log-probabilities with them.
    """

    run: TeacherForcedRun
    log_p: Tensor
    before: Tensor
    after: Tensor


@torch.no_grad()
def override_attention(
    translator: Translator, source: str, overrides: Sequence[AttentionOverride], target: str | Translation | None = None
) -> Redirected:
    """Run the model over a sentence and its translation with overridden rows.

    Args:
        translator: The model. Active edits stay active.
        source: A sentence.
        overrides: The rows; the last one for a place counts.
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
    prefix_length: int,
    beam: int | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Translation:
    """Decode a translation again from some token on, with the overrides in place.

    Args:
        translator: See `override_attention`.
        source: See `override_attention`.
        overrides: See `override_attention`. Rows of the decoder apply to every hypothesis at the step of their query.
        target: See `override_attention`.
        prefix_length: Number of its tokens with which the new translation begins.
        beam: Hypotheses kept at each step; None takes the checkpoint's default.
        should_stop: See `Translator.translate`.

    Raises:
        OverrideError: See `override_attention`.
        ValueError: The translation has fewer tokens than `prefix_length`.
    """
    run = teacher_forced_run(translator, source, target)
    check_overrides(translator, overrides, source=run.source.shape[1], target=run.inputs.shape[1])
    outputs = run.outputs.tolist()
    if not 0 <= prefix_length <= len(outputs):
        raise ValueError(f"prefix_length is {prefix_length}, but the translation has {len(outputs)} tokens")
    with redirected(translator, overrides):
        return translator.translate(source, beam=beam, prefix=outputs[:prefix_length], should_stop=should_stop)


def redirected(translator: Translator, overrides: Sequence[AttentionOverride]) -> AbstractContextManager[None]:
    """Return a context in which these rows replace the model's own, in every row of a batch."""
    by_place: dict[str, list[AttentionOverride]] = {}
    for each in overrides:
        by_place.setdefault(hook_point_name(each.place.kind, each.place.layer, "weights"), []).append(each)
    return edit(translator, {address: _put(group) for address, group in by_place.items()})


def _put(group: Sequence[AttentionOverride]) -> Edit:
    def change(weights: Tensor, site: Site) -> Tensor:
        changed = weights.clone()
        queries, keys = weights.shape[2:]
        for each in group:
            row = each.query - site.rows.query_offset
            if 0 <= row < queries:
                row_weights = weights.new_tensor(each.weights[:keys])
                changed[:, each.place.head, row] = 0.0
                changed[:, each.place.head, row, : len(row_weights)] = row_weights
        return changed

    return change


def check_overrides(
    translator: Translator, overrides: Sequence[AttentionOverride], *, source: int, target: int
) -> None:
    """Raise OverrideError for a row that does not fit the model, or the numbers of tokens of source and target."""
    config = translator.config
    for each in overrides:
        kind, layer, head = each.place
        if layer >= config.num_layers or head >= config.num_heads:
            raise OverrideError(f"the model has no head {each.head}")
        queries = source if kind == "encoder" else target
        if not 0 <= each.query < queries:
            raise OverrideError(f"query is {each.query}, but must be from 0 to {queries - 1}")
        keys = each.query + 1 if kind == "decoder" else source
        if len(each.weights) != keys:
            raise OverrideError(f"the row has {len(each.weights)} weights, but this query has {keys} keys")
        if not all(math.isfinite(weight) and weight >= 0 for weight in each.weights):
            raise OverrideError("weights are finite and not negative")
        if abs(sum(each.weights) - 1) > _TOLERANCE:
            raise OverrideError(f"the row sums to {sum(each.weights):.4g}, not to 1")


def without_keys(weights: Sequence[float], keys: Collection[int]) -> tuple[float, ...]:
    """Mask some keys; the others share their weight in proportion. Raises OverrideError if they have no weight."""
    rest = sum(weight for key, weight in enumerate(weights) if key not in keys)
    if rest <= 0:
        raise OverrideError("no other key has any weight")
    return tuple(0.0 if key in keys else weight / rest for key, weight in enumerate(weights))


def with_weight(weights: Sequence[float], key: int, weight: float) -> tuple[float, ...]:
    """Set the weight of one key, 0 to 1; the others share the rest in proportion, evenly if they have no weight."""
    others = sum(weights) - weights[key]
    if len(weights) == 1:
        return (1.0,)
    share = (1 - weight) / others if others > 0 else 0.0
    even = 0.0 if others > 0 else (1 - weight) / (len(weights) - 1)
    return tuple(weight if at == key else each * share + even for at, each in enumerate(weights))


def uniform_row(keys: int) -> tuple[float, ...]:
    """Return a row with equal weights."""
    return (1 / keys,) * keys
