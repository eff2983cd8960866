"""Parallel text -> shards of token ids, tokenised once (see `corpus.py` for their format)."""

from __future__ import annotations

import json
import random
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from transformer_core.data.corpus import FORMAT_VERSION, SIDES, save_shard
from transformer_core.data.text import DataError, add_typos, read_pairs
from transformer_core.storage.files import TOKENIZER_FILE
from transformer_core.text.tokenizer import Tokenizer

PAIRS_PER_SHARD = 500_000

_CHUNK = 10_000  # sentences that are tokenised at a time


def prepare(
    specs: Sequence[str | Path],
    out: Path,
    tokenizer: Tokenizer,
    *,
    typo_rate: float = 0.0,
    seed: int = 1,
    progress: Callable[[Iterable[Any]], Iterable[Any]] = lambda pairs: pairs,
) -> dict[str, Any]:
    """Tokenise parallel text once and write it as shards.

    Args:
        specs: Files, as for `read_pairs`.
        out: Folder to write; must not hold a prepared corpus yet.
        tokenizer: Is stored beside the shards.
        typo_rate: Share of the pairs of which a copy is added with the source as people type it.
        seed: Draws those copies.
        progress: Wraps the pairs, such as tqdm.

    Returns:
        The contents of `meta.json`: pairs, tokens on each side, empty pairs left out.

    Raises:
        DataError: The folder is taken, or the text cannot be used.
    """
    if (out / "meta.json").exists():
        raise DataError(f"{out} already has a prepared corpus; choose another folder")
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
                if rng.random() < typo_rate and (careless := add_typos(source, rng)):
                    yield careless, target

    for chunk in _chunks(progress(pairs()), _CHUNK):
        sources, targets = zip(*chunk, strict=True)
        for ids in zip(tokenizer.source.encode_batch(sources), tokenizer.encode_batch(targets), strict=True):
            writer.add(*ids)
    writer.close()
    if writer.pairs == 0:
        raise DataError(f"no sentence pairs in {', '.join(map(str, specs))}")
    meta = {
        "format_version": FORMAT_VERSION,
        "files": [Path(str(spec)).name for spec in specs],
        "pairs": writer.pairs,
        "source_tokens": writer.tokens[0],
        "target_tokens": writer.tokens[1],
        "empty_pairs_left_out": empty,
        "typo_rate": typo_rate,
        "seed": seed,
        "tokenizer_sha256": tokenizer.sha256,
        "special_ids": tokenizer.special.to_dict(),
        "vocab_size": len(tokenizer),
        **({"source_vocab_size": len(tokenizer.source)} if tokenizer.separate else {}),
        "shards": writer.shards,
    }
    tokenizer.save(out / TOKENIZER_FILE)
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
        self.tokens = [0, 0]
        # Python's own lists would take 36 bytes for each id.
        self._ids = (array("i"), array("i"))
        self._ends = (array("q"), array("q"))

    def add(self, source: Sequence[int], target: Sequence[int]) -> None:
        if not source or not target:
            return
        for side, ids in enumerate((source, target)):
            self._ids[side].extend(ids)
            self._ends[side].append(len(self._ids[side]))
            self.tokens[side] += len(ids)
        self.pairs += 1
        if len(self._ends[0]) == PAIRS_PER_SHARD:
            self.close()

    def close(self) -> None:
        if not self._ends[0]:
            return
        for side, ids, ends in zip(SIDES, self._ids, self._ends, strict=True):
            save_shard(self.out, self.shards, side, np.asarray(ids), np.asarray(ends))
        self._ids = (array("i"), array("i"))
        self._ends = (array("q"), array("q"))
        self.shards += 1
