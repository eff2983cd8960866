"""Batches and their padding (Section 5.1): real lengths through the batching code of training."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

_LENGTHS = Path(__file__).with_name("lengths.toml")
_SEED = 1
_ANY_TOKEN = 9  # batches are made of lengths, so any id but padding will do

IntArray = npt.NDArray[np.int64]
Plan = list[npt.NDArray[np.uint32]]


@dataclass(frozen=True)
class Batches:
    """Padding of batches in one order.

    Args:
        batch: (pairs,) the batch of each pair.
        row: (pairs,) its row there.
        widths: (batches, 2) positions of a row, source and target.
        rows: (batches,) rows.
        padded: Positions that hold nothing, on both sides.
        positions: All positions, on both sides.
    """

    batch: IntArray
    row: IntArray
    widths: IntArray
    rows: IntArray
    padded: int
    positions: int


@cache
def lengths() -> IntArray:
    """Load (pairs, 2) token counts of source and target."""
    pairs = tomllib.loads(_LENGTHS.read_text(encoding="utf-8"))["pairs"]
    return np.array(pairs, dtype=np.int64)


def length_sorted_batches(batch_tokens: int) -> Batches:
    """Batch pairs of similar lengths together, as training does."""
    from transformer_core.data.plan import plan_epoch

    plan = plan_epoch(lengths(), batch_tokens, max_tokens=int(lengths().max()), seed=_SEED, epoch=0)
    # Training takes batches in an order that chance draws; a picture reads better from short to long.
    return measure_padding(sorted(plan, key=lambda numbers: (int(lengths()[numbers].max()), len(numbers))))


def file_order_batches(batch_tokens: int) -> Batches:
    """Batch pairs in the order of the file, as many as fit."""
    plan: list[list[int]] = [[]]
    widest = 0
    for number, longest in enumerate(lengths().max(axis=1) + 1):  # with </s>
        widest = max(widest, int(longest))
        if plan[-1] and widest * (len(plan[-1]) + 1) > batch_tokens:
            plan.append([])
            widest = int(longest)
        plan[-1].append(number)
    return measure_padding([np.array(numbers, dtype=np.uint32) for numbers in plan])


def measure_padding(plan: Plan) -> Batches:
    """Make each batch and count its padding."""
    from transformer_core.config import SpecialIds
    from transformer_core.data import make_batch

    special = SpecialIds()
    batch, row = np.zeros(len(lengths()), dtype=np.int64), np.zeros(len(lengths()), dtype=np.int64)
    widths, rows, padded, positions = [], [], 0, 0
    for number, members in enumerate(plan):
        batch[members], row[members] = number, np.arange(len(members))
        sides = [[[_ANY_TOKEN] * int(count) for count in lengths()[members, side]] for side in (0, 1)]
        made = make_batch(sides[0], sides[1], special)
        widths.append([made.source.shape[1], made.outputs.shape[1]])
        rows.append(len(members))
        for table in (made.source, made.outputs):
            padded += int((table == special.pad).sum())
            positions += table.numel()
    return Batches(batch, row, np.array(widths), np.array(rows), padded, positions)
