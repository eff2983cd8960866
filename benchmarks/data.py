"""Memory and speed of reading training text: a made-up prepared corpus of any size, batches of 25,000 tokens.

    python -m benchmarks.data [--pairs 5000000] [--seconds 20] [--folder DIR]

Sentences have about as many tokens as WMT 2014 English-German has (28 on average, 250 at most). One thread; resident
memory is the peak of the process that reads, Python and torch included. The corpus takes about 240 bytes a pair on the
disk and is removed at the end unless --folder names a place for it.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from transformer_core.data import Corpus, plan_epoch
from transformer_core.data.corpus import FORMAT_VERSION, SIDES, save_shard
from transformer_core.storage.files import write_json
from transformer_core.text.tokenizer import Tokenizer

VOCABULARY = 37_000
BATCH_TOKENS = 25_000
PAIRS_PER_SHARD = 500_000


def write_corpus(folder: Path, pairs: int) -> None:
    """A prepared corpus of drawn ids; targets are about as long as their sources."""
    rng = np.random.default_rng(1)
    folder.mkdir(parents=True, exist_ok=True)
    words = ["".join(rng.choice(list("abcdefghij"), size=6)) for _ in range(300)]
    tokenizer = Tokenizer.train(words, vocab_size=60, threads=1)
    tokens, shards = [0, 0], range(0, pairs, PAIRS_PER_SHARD)
    for shard, first in enumerate(shards):
        count = min(PAIRS_PER_SHARD, pairs - first)
        source = np.clip(rng.gamma(2.5, 11.2, count), 1, 250)
        target = np.clip(source * rng.normal(1.0, 0.15, count), 1, 250)
        for side, lengths in enumerate((source, target)):
            ends = np.cumsum(lengths.astype(np.int64))
            ids: npt.NDArray[np.int32] = rng.integers(4, VOCABULARY, int(ends[-1]), dtype=np.int32)
            save_shard(folder, shard, SIDES[side], ids, ends)
            tokens[side] += int(ends[-1])
    (folder / "tokenizer.model").write_bytes(tokenizer.model)
    meta: dict[str, Any] = {
        "format_version": FORMAT_VERSION,
        "pairs": pairs,
        "shards": len(shards),
        "vocab_size": VOCABULARY,
    }
    meta |= {"source_tokens": tokens[0], "target_tokens": tokens[1], "special_ids": tokenizer.special.to_dict()}
    write_json(folder / "meta.json", meta)


def _peak() -> float:
    """Resident memory at its highest so far, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def measure(folder: Path, seconds: float) -> dict[str, float]:
    """Open, plan, and read batches for some seconds."""
    torch.set_num_threads(1)
    results = {"resident_before_mb": _peak()}
    started = time.perf_counter()
    corpus = Corpus(folder)
    results |= {"open_seconds": time.perf_counter() - started, "resident_opened_mb": _peak()}
    started = time.perf_counter()
    plan = plan_epoch(corpus.lengths, BATCH_TOKENS, max_tokens=256, seed=1, epoch=0)
    results |= {"plan_seconds": time.perf_counter() - started, "resident_planned_mb": _peak()}
    tokens = slots = batches = 0
    started = time.perf_counter()
    for indices in plan:
        batch = corpus.batch(indices)
        tokens += int((batch.outputs != corpus.special.pad).sum())
        slots += batch.outputs.numel()
        batches += 1
        if time.perf_counter() - started > seconds:
            break
    spent = time.perf_counter() - started
    whole_epoch = results["plan_seconds"] + spent * len(plan) / batches
    results |= {
        "batches": batches,
        "batches_of_the_epoch": len(plan),
        "padding_share": 1 - tokens / slots,
        "target_tokens_per_second": tokens / spent,
        "target_tokens_per_second_with_planning": tokens / batches * len(plan) / whole_epoch,
        "resident_peak_mb": _peak(),
    }
    return results


def main() -> None:
    """Print a table, then one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5_000_000, metavar="N")
    parser.add_argument("--seconds", type=float, default=20.0, metavar="S")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="keep the corpus here, or use the one that is here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder: Path = options.folder or Path(temporary)
        if not (folder / "meta.json").exists():
            # In a process of its own, so that its memory is not counted.
            writer = multiprocessing.get_context("spawn").Process(target=write_corpus, args=(folder, options.pairs))
            writer.start()
            writer.join()
        results = measure(folder, options.seconds)
        pairs = json.loads((folder / "meta.json").read_text(encoding="utf-8"))["pairs"]
    machine = (
        f"{platform.machine()}, {os.cpu_count()} cores, 1 thread, numpy {np.__version__}, torch {torch.__version__}"
    )
    sys.stdout.write(f"{pairs:,} pairs; {machine}\n")
    for name, value in results.items():
        sys.stdout.write(f"{name:42s} {value:14,.2f}\n")
    summary = {"pairs": pairs, "machine": machine, **{name: round(value, 3) for name, value in results.items()}}
    sys.stdout.write(json.dumps(summary) + "\n")


if __name__ == "__main__":
    main()
