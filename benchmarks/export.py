"""Figures as files: seconds for each, many at once, memory over many.

    python -m benchmarks.export [--quick] [--rounds 5] [--parts times concurrent memory]

Times are medians of drawing one file from maps that are there, with its provenance and command in it, styles and fonts
warm; the first file of a process takes longer, and is reported apart (`first_s`). The model is not part of it: its
time is that of `benchmarks.screen.first_heatmap`. `budget` is what a person should wait at most.

* concurrent: many threads, each with a sentence of its own, export at once; every file must equal the one that is
  made alone.
* memory: growth of the resident set over many exports, after as many as warm up.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import interleaved, read_options, report
from transformer_core.attention_maps import AttentionMaps, Axis
from viz_app.export import file_bytes
from viz_app.figures import VIEWS, Figure

LAYERS, HEADS = 6, 8
PARTS = ("times", "concurrent", "memory")
CONCURRENT = 30
# Name, view, tokens, formats, seconds at most.
CASES = (
    ("one head, 20 tokens", "head", 20, ("svg", "pdf", "png"), 0.5),
    ("one head, 100 tokens", "head", 100, ("svg", "pdf", "png"), 1.0),
    ("lines, 20 tokens", "lines", 20, ("svg", "pdf", "png"), 0.5),
    ("48 heads, 20 tokens", "heads", 20, ("svg", "pdf", "png"), 1.5),
    ("144 heads, 20 tokens", "all", 20, ("svg", "pdf", "png"), 3.0),
    ("data of 144 heads, 20 tokens", "all", 20, ("csv", "npz", "json"), None),
)


def random_maps(tokens: int, seed: int = 0) -> AttentionMaps:
    """Return maps of `tokens` on both sides, with sharp random weights and words as labels."""
    random = np.random.default_rng(seed)

    def weights(masked: bool) -> np.ndarray[Any, np.dtype[np.float32]]:
        scores = random.normal(0, 2, (LAYERS, HEADS, tokens, tokens))
        if masked:
            scores[..., np.triu(np.ones((tokens, tokens), dtype=bool), k=1)] = -np.inf
        exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return np.asarray(exponentials / exponentials.sum(axis=-1, keepdims=True), dtype=np.float32)

    def axis(letter: str) -> Axis:
        labels = tuple(f"\u2581{letter}{seed}w{i}" for i in range(tokens))
        return Axis(labels, tuple(range(tokens)), (False,) * tokens)

    return AttentionMaps(
        encoder=weights(False),
        decoder=weights(True),
        cross=weights(False),
        source=axis("s"),
        inputs=axis("t"),
        outputs=axis("t"),
    )


def figure(view: str, tokens: int, seed: int = 0) -> Figure:
    """A figure with all that a file records."""
    origin = {
        "checkpoint": "checkpoints/en-de",
        "checkpoint_sha256": "0" * 64,
        "source": f"sentence {seed}",
        "translation": f"Satz {seed}",
    }
    return VIEWS[view].draw(maps=random_maps(tokens, seed), layer=3, head=5, provenance=origin)


def measure_times(options: argparse.Namespace, rounds: int) -> list[dict[str, Any]]:
    """Seconds of each case and format, and whether two files are byte for byte the same."""
    entries = []
    for name, view, tokens, formats, budget in CASES[:1] if options.quick else CASES:
        tokens = min(tokens, 6) if options.quick else tokens
        drawn = figure(view, tokens)
        first = {format: file_bytes(drawn, format) for format in formats}
        same: list[bool] = []
        runs = {format: partial(_again, drawn, format, data, same) for format, data in first.items()}
        seconds = interleaved(runs, rounds=rounds, options=options)
        entries.append(
            {
                "case": name,
                "tokens": tokens,
                "seconds": seconds,
                "kilobytes": {format: len(data) / 1000 for format, data in first.items()},
                "identical": all(same),
                "budget": budget,
                "within": budget is None or max(seconds.values()) < budget,
            }
        )
    return entries


def _again(drawn: Figure, format: str, data: bytes, same: list[bool]) -> None:
    """Draw a file once more, and note whether it is the same as before."""
    same.append(file_bytes(drawn, format) == data)


def measure_together(options: argparse.Namespace) -> dict[str, Any]:
    """Many threads at once, each with its own sentence."""
    threads = 4 if options.quick else CONCURRENT
    figures = [figure("head", 6 if options.quick else 20, seed) for seed in range(threads)]
    started = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        together = list(pool.map(lambda each: file_bytes(each, "svg"), figures))
    seconds = time.perf_counter() - started
    alone = [file_bytes(each, "svg") for each in figures]
    own = sum(a == b for a, b in zip(together, alone, strict=True))
    return {"threads": threads, "seconds": seconds, "own": own, "different": len(set(together))}


def measure_memory(options: argparse.Namespace) -> dict[str, Any]:
    """Growth of the resident set; None where the system does not tell it."""
    count = 3 if options.quick else 200
    formats = ("svg", "pdf", "png")

    def export(number: int) -> None:
        file_bytes(figure("head", 6 if options.quick else 20, number), formats[number % len(formats)])

    for number in range(min(count, 30)):
        export(number)
    before = resident_mb()
    for number in range(count):
        export(1000 + number)
    after = resident_mb()
    return {"exports": count, "before_mb": before, "grown_mb": None if before is None else (after or 0.0) - before}


def resident_mb() -> float | None:
    """Resident memory of this process in MB; None where there is no /proc."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith("VmRSS"))


def main() -> None:
    """Print a table, then one line of JSON."""
    parts = {"nargs": "+", "choices": PARTS, "default": PARTS, "help": "What to measure. (default: all)"}
    options = read_options(__doc__, ("--parts", parts))
    rounds = options.rounds or (1 if options.quick else 5)
    started = time.perf_counter()
    file_bytes(figure("head", 6 if options.quick else 20), "svg")
    answer: dict[str, Any] = {"first_s": time.perf_counter() - started, "rounds": rounds}
    rows: list[list[object]] = []
    if "times" in options.parts:
        entries = measure_times(options, rounds)
        answer["export"] = entries
        rows += [
            [entry["case"], format, seconds, entry["kilobytes"][format], entry["budget"] or "", entry["identical"]]
            for entry in entries
            for format, seconds in entry["seconds"].items()
        ]
    if "concurrent" in options.parts:
        together = measure_together(options)
        answer["concurrent"] = together
        rows.append([f"{together['threads']} at once, own: {together['own']}", "svg", together["seconds"], "", "", ""])
    if "memory" in options.parts:
        memory = measure_memory(options)
        answer["memory"] = memory
        rows.append([f"{memory['exports']} exports, grown by MB", "", memory["grown_mb"], "", "", ""])
    report("Figures as files", ["case", "format", "seconds", "kB", "budget", "identical"], rows, answer, options)


if __name__ == "__main__":
    main()
