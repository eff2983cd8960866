"""Flows of the tokens of a translation, from one forward pass and one backward pass for many tokens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar, overload

import torch
from torch import Tensor

from transformer_core.analysis.flow.backward import POINTS, STACKS, Contributions, contributions
from transformer_core.analysis.flow.result import Flow, Side
from transformer_core.analysis.frozen import Stack
from transformer_core.analysis.teacher_forced_run import TeacherForcedRun, teacher_forced_run
from transformer_core.attention_maps import FloatArray
from transformer_core.text.tokenizer import token_id
from transformer_core.translator import Translator

Pair = tuple[str, str]
Key = TypeVar("Key", bound=str)


@overload
def flow(model: Translator, what: str | Pair, position: int, against: str | int | None = None) -> Flow: ...
@overload
def flow(
    model: Translator, what: str | Pair, position: None = None, against: str | int | None = None
) -> list[Flow]: ...
@overload
def flow(
    model: Translator, what: list[str] | list[Pair], position: int | None = None, against: str | int | None = None
) -> list[Any]: ...
def flow(
    model: Translator,
    what: str | Pair | list[str] | list[Pair],
    position: int | None = None,
    against: str | int | None = None,
) -> Flow | list[Any]:
    """Split the logit of a generated token over words, biases, and every edge of every head, exactly.

    Args:
        model: The translator, without edits of the residual stream.
        what: A text, which is translated first; a pair (source, target); or a list of these.
        position: Number of the token in the translation, from 0; None takes all.
        against: Another token, or its id, whose logit is subtracted; None subtracts the mean over the vocabulary.

    Returns:
        A flow; a list for all positions; and a list of what each sentence gives.

    Raises:
        ValueError: There is no such position or token, a sentence is empty, or the residual stream is edited.
        SourceTooLong: See `Translator.encode`.
    """
    if not isinstance(what, str | tuple):
        return [flow(model, each, position, against) for each in what]
    source, target = (what, None) if isinstance(what, str) else what
    run = teacher_forced_run(model, source, target, points=POINTS)
    results = list(flows(model, run, None if position is None else [position], against=against))
    return results if position is None else results[0]


def flows(
    translator: Translator,
    run: TeacherForcedRun,
    positions: Sequence[int] | None = None,
    *,
    tokens: Sequence[int] | None = None,
    against: str | int | None = None,
    neurons: bool = True,
) -> Iterator[Flow]:
    """Yield the flows of some tokens of a run, as many at a time as memory allows.

    Args:
        translator: The model, without edits of the residual stream.
        run: A run with `POINTS` captured.
        positions: Numbers of the generated tokens, from 0; None takes all.
        tokens: An id for each position; None takes the generated tokens.
        against: As for `flow`.
        neurons: As for `contributions`.

    Raises:
        ValueError: As for `flow`.
    """
    count, size, vocabulary = len(run.outputs), translator.config.vocab_size, translator.tokenizer
    at = list(range(count)) if positions is None else list(positions)
    if wrong := [each for each in at if not 0 <= each < count]:
        raise ValueError(f"position is {wrong[0]}, but must be from 0 to {count - 1}")
    ids = run.outputs[at].tolist() if tokens is None else list(tokens)
    other = token_id(vocabulary, against) if isinstance(against, str) else against
    if wrong := [each for each in [*ids, other or 0] if not 0 <= each < size]:
        raise ValueError(f"token is {wrong[0]}, but must be from 0 to {size - 1}")
    each_at, each_id = (torch.tensor(each, device=run.outputs.device) for each in (at, ids))
    others = None if other is None else torch.full_like(each_id, other)
    against_name = None if other is None else vocabulary.token(other)
    explained = iter(zip(at, vocabulary.tokens(ids), strict=True))
    for part in contributions(translator.model, run, each_at, each_id, others, neurons=neurons):
        for row in range(len(part.logits)):
            yield _flow(run, *next(explained), against_name, part, row)


def _flow(run: TeacherForcedRun, position: int, token: str, against: str | None, part: Contributions, row: int) -> Flow:
    """Return one row of the contributions as arrays."""

    def by_side(values: dict[Stack, Tensor]) -> dict[Side, FloatArray]:
        return {"source": _array(values["encoder"][row]), "inputs": _array(values["decoder"][row])}

    def arrays(values: Mapping[Key, Tensor]) -> dict[Key, FloatArray]:
        return {name: _array(each[row]) for name, each in values.items()}

    biases, (places, values) = _array(part.biases[row]), part.neurons
    return Flow(
        run=run,
        position=position,
        token=token,
        against=against,
        logit=float(part.logits[row]),
        words=by_side(part.words),
        positions=by_side(part.positions),
        biases=float(biases[-1]),
        maps=arrays(part.edges),
        states=arrays(part.states),
        residuals=arrays(part.residuals),
        memory=_array(part.memory[row]),
        biases_above=biases[:-1],
        top_neurons=tuple(
            (STACKS[stack], *place, value)
            for (stack, *place), value in zip(places[row].tolist(), values[row].tolist(), strict=True)
        ),
    )


def _array(values: Tensor) -> FloatArray:
    return values.cpu().numpy().copy()  # rows of a pass must not keep all of it in memory
