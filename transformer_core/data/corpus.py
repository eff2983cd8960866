"""A prepared folder: `meta.json`, `tokenizer.model` and numbered shards of `.npy` arrays, never held in memory.

`train-00000.source.npy` holds all ids of a shard's sources in a row, `train-00000.source_ends.npy` where each sentence
ends. Only lengths are held, 4 bytes a pair; ids are read from the disk (or the system's cache) as batches need them.
"""

from __future__ import annotations

import os
import weakref
from itertools import repeat
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from transformer_core.config import ConfigError, SpecialIds
from transformer_core.data.batches import Batch, batch_of_rows
from transformer_core.data.text import DataError
from transformer_core.storage.files import TOKENIZER_FILE, CheckpointError
from transformer_core.storage.manifest import read_object
from transformer_core.text.tokenizer import Tokenizer

FORMAT_VERSION = 1
_MAX_META_BYTES = 1_000_000
Positions = npt.NDArray[np.int64]
SIDES = ("source", "target")

Number = TypeVar("Number", bound=np.generic)
_BY_POSITION = hasattr(os, "pread")  # not on Windows


def save_shard(out: Path, shard: int, side: str, ids: npt.NDArray[np.int32], ends: npt.NDArray[np.int64]) -> None:
    """Write one side of a shard: all ids in a row, and where each sentence ends."""
    stem = _stem(out, shard, side)
    np.save(f"{stem}.npy", ids.astype(np.int32, copy=False))
    np.save(f"{stem}_ends.npy", ends.astype(np.int64, copy=False))


def _stem(folder: Path, shard: int, side: str) -> Path:
    return folder / f"train-{shard:05d}.{side}"


class _Side:
    """One side of one shard: (N,) ids, and (pairs,) ends of its sentences, both mapped.

    Batches read their ids by position instead: a page of a mapped file that was touched counts as memory of this
    process, and Linux maps up to 2 MB at a touch, so that soon the whole corpus would.
    """

    def __init__(self, folder: Path, shard: int, side: str) -> None:
        self.file = Path(f"{_stem(folder, shard, side)}.npy")
        self.ids, self.offset = _mapped(self.file, np.int32)
        ends_file = Path(f"{_stem(folder, shard, side)}_ends.npy")
        self.ends, _ = _mapped(ends_file, np.int64)
        if len(self.ends) == 0 or int(self.ends[-1]) != len(self.ids):
            raise DataError(f"cannot read shard {self.file}: its {len(self.ids)} ids do not match {ends_file}")
        if _BY_POSITION:
            self._descriptor = os.open(self.file, os.O_RDONLY)
            weakref.finalize(self, os.close, self._descriptor)

    def spans(self, rows: Positions) -> tuple[Positions, Positions]:
        """Return first position and length of the given sentences."""
        starts = np.where(rows > 0, self.ends[np.maximum(rows - 1, 0)], 0)
        return starts, self.ends[rows] - starts

    def read(self, starts: Positions, lengths: Positions) -> npt.NDArray[np.int32]:
        """Return ids of several sentences in a row."""
        if not _BY_POSITION:
            return self.ids[_runs(starts, lengths)]
        size = self.ids.itemsize
        places = (lengths * size).tolist(), (self.offset + starts * size).tolist()
        raw = b"".join(map(os.pread, repeat(self._descriptor), *places))
        if len(raw) != int(lengths.sum()) * size:
            raise DataError(f"cannot read shard {self.file}: it was truncated after opening")
        return np.frombuffer(raw, dtype=np.int32)


def _mapped(file: Path, dtype: type[Number]) -> tuple[npt.NDArray[Number], int]:
    """Return a `.npy` array of one dimension, not read yet, and where in the file it begins."""
    try:
        array = np.load(file, mmap_mode="r", allow_pickle=False)
        if array.ndim != 1 or array.dtype != dtype:
            raise ValueError(f"{array.ndim} dimensions of {array.dtype}, not one of {np.dtype(dtype)}")
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"cannot read shard {file} (truncated, missing or damaged): {error}") from error
    return array.view(np.ndarray), array.offset


class Corpus:
    """A prepared folder, memory-mapped.

    `lengths` is (pairs, 2), the tokens of source and target, in as few bytes as possible.

    Raises:
        DataError: The folder has no prepared corpus, one of another format, or a damaged shard.
    """

    def __init__(self, folder: Path) -> None:
        try:
            self.meta = read_object(folder / "meta.json", _MAX_META_BYTES)
            if (version := self.meta.get("format_version")) != FORMAT_VERSION:
                raise DataError(f"{folder} has format {version!r}, this program reads {FORMAT_VERSION}")
            self.special = SpecialIds.from_dict(self.meta["special_ids"])
            shards, pairs = range(self.meta["shards"]), self.meta["pairs"]
        except CheckpointError as error:
            raise DataError(f"{folder} has no prepared corpus (meta.json): {error.reason}") from error
        except (LookupError, TypeError, ConfigError) as error:
            raise DataError(f"{folder / 'meta.json'} is damaged: {error}") from error
        self.folder = folder
        self.tokenizer = Tokenizer.load(folder / TOKENIZER_FILE)
        self._shards = [(_Side(folder, shard, "source"), _Side(folder, shard, "target")) for shard in shards]
        for number, (source, target) in enumerate(self._shards):
            if len(source.ends) != len(target.ends):
                raise DataError(
                    f"cannot read shard {_stem(folder, number, 'target')}_ends.npy: "
                    f"{len(target.ends)} targets for {len(source.ends)} sources"
                )
        self._first = np.concatenate(([0], np.cumsum([len(source.ends) for source, _ in self._shards])))
        if len(self) != pairs:
            raise DataError(f"{folder} has {len(self)} pairs, but its meta.json says {pairs!r}")
        self.lengths = self._read_lengths()

    def _read_lengths(self) -> npt.NDArray[np.uint16] | npt.NDArray[np.int32]:
        lengths: npt.NDArray[np.uint16] | npt.NDArray[np.int32] = np.empty((len(self), 2), dtype=np.uint16)
        for shard, first in zip(self._shards, self._first, strict=False):
            for column, side in enumerate(shard):
                counts = np.diff(side.ends, prepend=0)
                if int(counts.min()) < 0:
                    raise DataError(f"cannot read shard in {self.folder}: the sentence ends do not increase")
                if int(counts.max()) > np.iinfo(lengths.dtype).max:
                    lengths = lengths.astype(np.int32)
                lengths[first : first + len(counts), column] = counts
        return lengths

    def __len__(self) -> int:
        return int(self._first[-1])

    def pair(self, index: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Return source and target ids of one pair, without special ids."""
        shard = int(np.searchsorted(self._first, index, side="right")) - 1
        row = index - int(self._first[shard])
        source, target = (
            side.ids[0 if row == 0 else side.ends[row - 1] : side.ends[row]] for side in self._shards[shard]
        )
        return source, target

    def batch(self, indices: npt.NDArray[np.integer], shape: tuple[int, int] | None = None) -> Batch:
        """Pad the given pairs into one batch, a row for each in the order given.

        Args:
            indices: Numbers of the pairs.
            shape: Rows and positions to pad to; None means as few as possible.
        """
        rows = indices.astype(np.int64)
        sources, targets = (self._rows(rows, column) for column in (0, 1))
        return batch_of_rows(*sources, *targets, self.special, shape)

    def _rows(self, indices: Positions, column: int) -> tuple[npt.NDArray[np.int32], Positions]:
        """Return ids of one side of the given pairs in a row, and how many belong to each."""
        shards = np.searchsorted(self._first, indices, side="right") - 1
        rows = indices - self._first[shards]
        starts, lengths = np.empty_like(rows), np.empty_like(rows)
        used = [(self._shards[shard][column], np.flatnonzero(shards == shard)) for shard in np.unique(shards)]
        for side, mine in used:
            starts[mine], lengths[mine] = side.spans(rows[mine])
        places = np.cumsum(lengths) - lengths
        ids = np.empty(int(lengths.sum()), dtype=np.int32)
        for side, mine in used:
            ids[_runs(places[mine], lengths[mine])] = side.read(starts[mine], lengths[mine])
        return ids, lengths


def _runs(starts: Positions, lengths: Positions) -> Positions:
    """start, start + 1, ... for each of several runs, one run after the other."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))
