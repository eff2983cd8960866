"""Rows of ids -> one padded batch, without a loop over rows.

Shape legend: B sentences, S source positions, T target positions, N ids of all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from transformer_core.config import SpecialIds

Ids = Sequence[int] | npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Batch:
    """Sentences padded to one length.

    Args:
        source: (B, S) ids, each ending with `</s>`.
        inputs: (B, T) ids the decoder reads: `<s>` and the target (the output shifted right).
        outputs: (B, T) ids it must produce: the target and `</s>`.
        source_padded: Whether some source may have padding, which no attention may see.
    """

    source: Tensor
    inputs: Tensor
    outputs: Tensor
    source_padded: bool = True

    @property
    def ids(self) -> tuple[Tensor, Tensor, Tensor]:
        """Source, inputs, outputs."""
        return self.source, self.inputs, self.outputs

    def to(self, device: torch.device) -> Batch:
        """Return the same batch on another device."""
        return self._map(lambda ids: ids.to(device, non_blocking=True))

    def pin_memory(self) -> Batch:
        """Return the same batch in memory from which a GPU copies while the host goes on."""
        return self._map(Tensor.pin_memory)

    def copy(self, device: torch.device) -> Batch:
        """Return a copy on a device, perhaps the same one."""
        return self._map(lambda ids: ids.to(device, copy=True))

    def _map(self, change: Callable[[Tensor], Tensor]) -> Batch:
        return Batch(change(self.source), change(self.inputs), change(self.outputs), self.source_padded)


def make_batch(sources: Sequence[Ids], targets: Sequence[Ids], special: SpecialIds) -> Batch:
    """Ids without special tokens -> one padded batch with them."""
    return batch_of_rows(*_in_a_row(sources), *_in_a_row(targets), special)


def _in_a_row(rows: Sequence[Ids]) -> tuple[npt.NDArray[np.int32], Counts]:
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    return np.fromiter(chain.from_iterable(rows), dtype=np.int32, count=int(lengths.sum())), lengths


def batch_of_rows(
    source: npt.NDArray[np.int32],
    source_lengths: Counts,
    target: npt.NDArray[np.int32],
    target_lengths: Counts,
    special: SpecialIds,
    shape: tuple[int, int] | None = None,
) -> Batch:
    """Build a batch from the ids of all rows, one row after the other.

    Args:
        source: (N,) ids without special tokens.
        source_lengths: (B,) how many of them belong to each row.
        target: Like the source.
        target_lengths: Like the source's.
        special: Ids of padding, `<s>` and `</s>`.
        shape: Rows and positions of the batch, on both sides; rows that are added hold nothing but a `</s>` to read
            and an `<s>` to start from, and are to produce padding, which no loss counts. None means as small as
            possible.
    """
    count = len(source_lengths)
    rows, width = shape or (count, 0)
    source_width = width or int(source_lengths.max()) + 1
    target_width = width or int(target_lengths.max()) + 1
    sources = np.full((rows, source_width), special.pad, dtype=np.int64)
    _fill(sources[:count], source, source_lengths)
    sources[np.arange(count), source_lengths] = special.eos
    sources[count:, 0] = special.eos  # attention needs somewhere to look
    inputs = np.full((rows, target_width), special.pad, dtype=np.int64)
    inputs[:, 0] = special.bos
    _fill(inputs[:count, 1:], target, target_lengths)
    outputs = np.full((rows, target_width), special.pad, dtype=np.int64)
    _fill(outputs[:count], target, target_lengths)
    outputs[np.arange(count), target_lengths] = special.eos
    padded = rows > count or int(source_lengths.min()) + 1 < source_width
    return Batch(torch.from_numpy(sources), torch.from_numpy(inputs), torch.from_numpy(outputs), padded)


def _fill(table: npt.NDArray[np.int64], ids: npt.NDArray[np.int32], lengths: Counts) -> None:
    """Put each row's ids at the start of its row of the (B, width) table."""
    table[np.arange(table.shape[1]) < lengths[:, None]] = ids  # a boolean index runs row by row, as the ids do
