"""Minimal pairs in batches: sentences of equal length, with what their translations begin with.

Shape legend: B pairs of a batch, S source and T target positions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from transformer_core.analysis.circuit.wiring import Wiring
from transformer_core.analysis.minimal_pairs import PatchingError, first_divergence
from transformer_core.translator import Translator

_MAX_VALUES = 2**22  # of the gradients at all receivers: 16 MiB, so that they stay near the processor


class MinimalPair(NamedTuple):
    """Two similar sentences whose translations differ.

    Args:
        clean: A sentence.
        corrupted: One that differs from it in little, with as many tokens.
        answers: Their translations; None takes the model's own.
        group: Pairs of one group are like one another: they are drawn together, and a donor comes from another group
            if one has it.
    """

    clean: str
    corrupted: str
    answers: tuple[str, str] | None = None
    group: str = ""


@dataclass(frozen=True)
class Batch:
    """Pairs of equal lengths.

    Args:
        numbers: Places in the list of pairs that count.
        clean: (B, S) ids.
        corrupted: (B, S) ids.
        inputs: (B, T) ids that the decoder reads.
        answers: (B, 2) ids of the two next tokens.
    """

    numbers: tuple[int, ...]
    clean: Tensor
    corrupted: Tensor
    inputs: Tensor
    answers: Tensor

    def part(self, rows: list[int]) -> Batch:
        """Return some of the pairs."""
        tensors = (each[rows] for each in (self.clean, self.corrupted, self.inputs, self.answers))
        return Batch(tuple(self.numbers[at] for at in rows), *tensors)


def read_pairs(
    translator: Translator, wiring: Wiring, pairs: Sequence[MinimalPair]
) -> tuple[list[MinimalPair], list[Batch], Counter[str]]:
    """Return the pairs that count, in batches, and why others do not: `same` translations, or another `length`.

    Raises:
        ValueError: A sentence is empty.
        SourceTooLong: See `Translator.encode`.
    """
    special, device = translator.tokenizer.special, next(translator.model.parameters()).device
    kept, skipped = list[MinimalPair](), Counter[str]()
    rows: dict[tuple[int, int], list[tuple[int, list[list[int]]]]] = {}
    for number, pair in enumerate(pairs):
        clean, corrupted = ([*translator.encode(text).ids, special.eos] for text in (pair.clean, pair.corrupted))
        if len(clean) == 1 or len(corrupted) == 1:
            raise ValueError(f"a sentence of pair {number + 1} is empty")
        if len(clean) != len(corrupted):
            skipped["length"] += 1
            continue
        try:
            divergence = first_divergence(translator, pair.clean, pair.corrupted, pair.answers)
        except PatchingError as error:
            skipped[error.reason] += 1
            continue
        ids = [clean, corrupted, [special.bos, *divergence.prefix], list(divergence.answers)]
        rows.setdefault((len(clean), len(divergence.prefix)), []).append((len(kept), ids))
        kept.append(pair)
    batches = []
    for (length, _), members in rows.items():
        size = max(1, _MAX_VALUES // (length * len(wiring.receivers) * translator.config.d_model))
        for start in range(0, len(members), size):
            part = members[start : start + size]
            columns = zip(*(ids for _, ids in part), strict=True)
            tensors = (torch.tensor(column, device=device) for column in columns)
            batches.append(Batch(tuple(number for number, _ in part), *tensors))
    return kept, batches, skipped


def metric_of(logits: Tensor, answers: Tensor) -> Tensor:
    """Return logit(clean answer) - logit(corrupted answer): (B, V) and (B, 2) -> (B,), in nats."""
    both = logits.gather(1, answers)
    return both[:, 0] - both[:, 1]


def donors_of(batches: Iterable[Batch], pairs: Sequence[MinimalPair]) -> dict[int, Tensor]:
    """Return a donor of the same class for each pair that has one: number -> (S,) ids.

    It is another clean sentence with as many tokens and the same two answers: of another group, if one has it.
    """
    classes: dict[tuple[int, ...], list[tuple[int, Tensor]]] = {}
    for batch in batches:
        for number, ids, answers in zip(batch.numbers, batch.clean, batch.answers.tolist(), strict=True):
            classes.setdefault((len(ids), *answers), []).append((number, ids))
    donors = {}
    for members in classes.values():
        for at, (number, clean) in enumerate(members):
            others = [each for each in (*members[at + 1 :], *members[:at]) if not torch.equal(each[1], clean)]
            group = pairs[number].group or number
            elsewhere = [each for each in others if (pairs[each[0]].group or each[0]) != group]
            if others:
                donors[number] = (elsewhere or others)[0][1]
    return donors
