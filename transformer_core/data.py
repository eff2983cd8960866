"""Parallel text -> prepared shards -> length-bucketed batches of tokens (Section 5.1).

A prepared folder holds `meta.json`, `tokenizer.model` and numbered shards of `.npy` arrays that are memory-mapped:
`train-00000.source.npy` is all ids of its sources in a row, `train-00000.source_ends.npy` where each sentence ends.

Shape legend: B sentences, S source positions, T target positions.
"""

from __future__ import annotations

import gzip
import json
import lzma
import random
import unicodedata
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from transformer_core.config import SpecialIds
from transformer_core.tokenizer import Tokenizer

FORMAT_VERSION = 1
PAIRS_PER_SHARD = 500_000
Ids = Sequence[int] | npt.NDArray[np.int32]

_CHUNK = 10_000  # sentences that are tokenised at a time


class DataError(ValueError):
    """Training or test text that cannot be used; the message names the file and the line."""


@dataclass(frozen=True)
class Batch:
    """Sentences padded to one length.

    Args:
        source: (B, S) ids, each ending with `</s>`.
        inputs: (B, T) ids the decoder reads: `<s>` and the target (the output shifted right).
        outputs: (B, T) ids it must produce: the target and `</s>`.
    """

    source: Tensor
    inputs: Tensor
    outputs: Tensor

    def to(self, device: torch.device) -> Batch:
        """The same batch on another device."""
        return Batch(*(part.to(device, non_blocking=True) for part in (self.source, self.inputs, self.outputs)))


# --- reading parallel text --------------------------------------------------------------------------------------------


def _open_text(path: Path) -> IO[str]:
    openers: dict[str, Callable[..., Any]] = {".xz": lzma.open, ".gz": gzip.open}
    opener = openers.get(path.suffix, open)
    text: IO[str] = opener(path, "rt", encoding="utf-8", newline="\n")
    return text


def read_lines(path: Path) -> Iterator[str]:
    """Lines of a text file, plain or packed. Raises DataError when it cannot be read, or is not UTF-8."""
    try:
        with _open_text(path) as file:
            for line in file:
                yield line.rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text: {error}") from error
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise DataError(f"cannot read {path}: {error}") from error


def read_pairs(spec: str | Path, target_column: int = 1) -> Iterator[tuple[str, str]]:
    """Source and target of each line.

    Args:
        spec: A `.tsv`, `.tsv.xz` or `.tsv.gz` file with the source in its first column, or two plain files with equally
            many lines, written `train.en,train.de`.
        target_column: Which column of a tsv is the target, counted from 0.

    Raises:
        DataError: A file cannot be read, a line has too few columns, or two files differ in length.
    """
    name = str(spec)
    if "," in name and not Path(name).exists():
        source_name, _, target_name = name.partition(",")
        yield from _zip_lines(Path(source_name), Path(target_name))
        return
    for cells in read_columns(name, (0, target_column)):
        yield cells[0], cells[1]


def read_columns(path: Path | str, columns: Sequence[int]) -> Iterator[tuple[str, ...]]:
    """The chosen columns of each line of a `.tsv`, `.tsv.xz` or `.tsv.gz` file.

    Raises:
        DataError: The file cannot be read, or a line has too few columns.
    """
    for number, line in enumerate(read_lines(Path(path)), start=1):
        cells = line.split("\t")
        if len(cells) <= max(columns):
            raise DataError(f"{path}, line {number}: {len(cells)} columns, but at least {max(columns) + 1} are needed")
        yield tuple(cells[column] for column in columns)


def _zip_lines(source: Path, target: Path) -> Iterator[tuple[str, str]]:
    sources, targets = read_lines(source), read_lines(target)
    for number, source_line in enumerate(sources, start=1):
        target_line = next(targets, None)
        if target_line is None:
            raise DataError(f"{target} ends at line {number - 1}, but {source} goes on")
        yield source_line, target_line
    if next(targets, None) is not None:
        raise DataError(f"{source} ends, but {target} goes on")


def typed_carelessly(sentence: str, rng: random.Random) -> str:
    """A sentence as people type it into a field: in lower case, without final or any punctuation, or both."""
    style = rng.randrange(3)
    if style != 1:
        sentence = sentence.lower()
    if style == 0:
        return sentence
    kept = "".join(c for c in sentence if c in "'\u2019-" or not unicodedata.category(c).startswith("P"))
    return " ".join(kept.split())


# --- preparing --------------------------------------------------------------------------------------------------------


def prepare(
    specs: Sequence[str | Path],
    out: Path,
    tokenizer: Tokenizer,
    *,
    careless_share: float = 0.0,
    seed: int = 1,
    progress: Callable[[Iterable[Any]], Iterable[Any]] = lambda pairs: pairs,
) -> dict[str, Any]:
    """Tokenise parallel text once and write it as shards.

    Args:
        specs: What `read_pairs` reads.
        out: Folder to write; must not hold a prepared corpus yet.
        tokenizer: Is stored beside the shards.
        careless_share: Share of the pairs of which a copy is added with the source as people type it.
        seed: Draws those copies.
        progress: Wraps the pairs, such as tqdm.

    Returns:
        The contents of `meta.json`: pairs, pieces on each side, empty pairs left out.

    Raises:
        DataError: The folder is taken, or the text cannot be used.
    """
    if (out / "meta.json").exists():
        raise DataError(f"{out} already holds a prepared corpus; name another folder")
    out.mkdir(parents=True, exist_ok=True)
    rng = random.Random(seed)
    writer = _ShardWriter(out)
    empty = 0

    def pairs() -> Iterator[tuple[str, str]]:
        nonlocal empty
        for spec in specs:
            for source, target in read_pairs(spec):
                if not source.strip() or not target.strip():
                    empty += 1
                    continue
                yield source, target
                if rng.random() < careless_share and (careless := typed_carelessly(source, rng)):
                    yield careless, target

    for chunk in _chunks(progress(pairs()), _CHUNK):
        sources, targets = zip(*chunk, strict=True)
        for ids in zip(tokenizer.encode_batch(sources), tokenizer.encode_batch(targets), strict=True):
            writer.add(*ids)
    writer.close()
    if writer.pairs == 0:
        raise DataError(f"no sentence pairs in {', '.join(map(str, specs))}")
    meta = {
        "format_version": FORMAT_VERSION,
        "files": [Path(str(spec)).name for spec in specs],
        "pairs": writer.pairs,
        "source_pieces": writer.pieces[0],
        "target_pieces": writer.pieces[1],
        "empty_pairs_left_out": empty,
        "careless_share": careless_share,
        "seed": seed,
        "tokenizer_sha256": tokenizer.sha256,
        "special_ids": tokenizer.special.to_dict(),
        "vocab_size": len(tokenizer),
        "shards": writer.shards,
    }
    (out / "tokenizer.model").write_bytes(tokenizer.model)
    (out / "meta.json").write_text(json.dumps(meta, indent=2) + "\n", encoding="utf-8")
    return meta


def _chunks(items: Iterable[tuple[str, str]], size: int) -> Iterator[list[tuple[str, str]]]:
    chunk = []
    for item in items:
        chunk.append(item)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


class _ShardWriter:
    def __init__(self, out: Path) -> None:
        self.out = out
        self.pairs = 0
        self.shards = 0
        self.pieces = [0, 0]
        self._ids: tuple[list[int], list[int]] = ([], [])
        self._ends: tuple[list[int], list[int]] = ([], [])

    def add(self, source: Sequence[int], target: Sequence[int]) -> None:
        if not source or not target:
            return
        for side, ids in enumerate((source, target)):
            self._ids[side].extend(ids)
            self._ends[side].append(len(self._ids[side]))
            self.pieces[side] += len(ids)
        self.pairs += 1
        if len(self._ends[0]) == PAIRS_PER_SHARD:
            self.close()

    def close(self) -> None:
        if not self._ends[0]:
            return
        for side, name in enumerate(("source", "target")):
            stem = f"train-{self.shards:05d}.{name}"
            np.save(self.out / f"{stem}.npy", np.asarray(self._ids[side], dtype=np.int32))
            np.save(self.out / f"{stem}_ends.npy", np.asarray(self._ends[side], dtype=np.int64))
            self._ids[side].clear()
            self._ends[side].clear()
        self.shards += 1


# --- batches ----------------------------------------------------------------------------------------------------------


class Corpus:
    """A prepared folder, memory-mapped.

    Raises:
        DataError: The folder holds no prepared corpus, or one of another format.
    """

    def __init__(self, folder: Path) -> None:
        try:
            self.meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise DataError(f"{folder} holds no prepared corpus (meta.json): {error}") from error
        if self.meta.get("format_version") != FORMAT_VERSION:
            raise DataError(
                f"{folder} has format {self.meta.get('format_version')}, this program reads {FORMAT_VERSION}"
            )
        self.folder = folder
        self.special = SpecialIds.from_dict(self.meta["special_ids"])
        self.tokenizer = Tokenizer.load(folder / "tokenizer.model")
        self._sides = [
            [self._load(shard, side) for shard in range(self.meta["shards"])] for side in ("source", "target")
        ]
        counts = [len(ends) for _, ends in self._sides[0]]
        self._first = np.concatenate(([0], np.cumsum(counts)))
        self.lengths = np.stack(
            [np.concatenate([np.diff(e, prepend=0) for _, e in side]) for side in self._sides], axis=1
        )

    def _load(self, shard: int, side: str) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        stem = self.folder / f"train-{shard:05d}.{side}"
        try:
            ids = np.load(f"{stem}.npy", mmap_mode="r", allow_pickle=False)
            return ids, np.load(f"{stem}_ends.npy", mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise DataError(f"cannot read shard {stem}: {error}") from error

    def __len__(self) -> int:
        return int(self._first[-1])

    def pair(self, index: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Source and target ids of one pair, without special ids."""
        shard = int(np.searchsorted(self._first, index, side="right")) - 1
        row = index - int(self._first[shard])
        sides = []
        for side in self._sides:
            ids, ends = side[shard]
            sides.append(ids[0 if row == 0 else ends[row - 1] : ends[row]])
        return sides[0], sides[1]

    def batch(self, indices: npt.NDArray[np.int64]) -> Batch:
        """Pad the given pairs into one batch."""
        pairs = [self.pair(int(index)) for index in indices]
        return make_batch([pair[0] for pair in pairs], [pair[1] for pair in pairs], self.special)


def make_batch(sources: Sequence[Ids], targets: Sequence[Ids], special: SpecialIds) -> Batch:
    """Ids without special pieces -> one padded batch with them."""
    source = _padded([[*ids, special.eos] for ids in sources], special.pad)
    inputs = _padded([[special.bos, *ids] for ids in targets], special.pad)
    outputs = _padded([[*ids, special.eos] for ids in targets], special.pad)
    return Batch(source, inputs, outputs)


def _padded(rows: list[list[int]], pad: int) -> Tensor:
    """Rows of ids -> (B, longest) int64."""
    table = np.full((len(rows), max(map(len, rows))), pad, dtype=np.int64)
    for row, ids in zip(table, rows, strict=True):
        row[: len(ids)] = ids
    return torch.from_numpy(table)


def plan_epoch(
    lengths: npt.NDArray[np.int64], batch_tokens: int, max_pieces: int, seed: int, epoch: int
) -> list[npt.NDArray[np.int64]]:
    """Which pairs share a batch in one epoch; pairs of similar lengths together, in an order drawn from the seed.

    Args:
        lengths: (pairs, 2) pieces of source and target.
        batch_tokens: Padded source tokens of a batch at most, and padded target tokens at most, `</s>` included.
        max_pieces: Longer pairs are left out.
        seed: With the epoch, determines everything.
        epoch: Counted from 0.

    Raises:
        DataError: Nothing is left to train on.
    """
    rng = np.random.default_rng((seed, epoch))
    longest = lengths.max(axis=1)
    usable = np.flatnonzero((longest <= max_pieces) & (longest + 1 <= batch_tokens))
    if len(usable) == 0:
        raise DataError(f"no pair has at most {max_pieces} pieces and fits into a batch of {batch_tokens} tokens")
    shuffled = rng.permutation(usable)
    # Stable, so that pairs of equal lengths stay shuffled.
    order = shuffled[np.lexsort((lengths[shuffled, 0], lengths[shuffled, 1]))]
    batches, start, widest = [], 0, np.zeros(2, dtype=np.int64)
    for position, index in enumerate(order):
        wider = np.maximum(widest, lengths[index] + 1)
        if int(wider.max()) * (position - start + 1) > batch_tokens:
            batches.append(order[start:position])
            start, wider = position, lengths[index] + 1
        widest = wider
    batches.append(order[start:])
    return [batches[i] for i in rng.permutation(len(batches))]
