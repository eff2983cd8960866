"""Measure how far methods of attribution agree with leave-one-out, and whether log-probabilities fall accordingly.

    python -m benchmarks.agreement --sentences FILE [--checkpoint DIR] [--count N] [--slow] [--quick]

Over the first N sentences of FILE that have four source words or more, translated by the model. Agreement is Kendall's
tau-b of the sizes of source words, mean over the tokens of a sentence, then over sentences; its interval holds 95 % of
1,000 draws of sentences. The drop is a token's loss of log-probability in nats when no position may attend to the word
that the method names first for it; beside it, that of the word named last, and of a random word. Leave-one-out is the
yardstick. It masks the same words as the drop, so its own drop is what the others can hope for, not a merit.
"""

from __future__ import annotations

import argparse
from itertools import islice
from typing import Any

import numpy as np

from benchmarks.machine import read_options, report
from transformer_core.analysis.attribution import (
    METHODS,
    POINTS,
    STEPS,
    Method,
    agreement,
    attribute,
    faithfulness,
)
from transformer_core.analysis.teacher_forced_run import teacher_forced_run
from transformer_core.data import read_pairs
from transformer_core.progress import tracked
from transformer_core.storage.bundled_models import find_checkpoint
from transformer_core.translator import Translator

YARDSTICK: Method = "leave-one-out"
SLOW: tuple[Method, ...] = ("integrated-gradients",)
MIN_WORDS = 4
DRAWS = 1_000


def measure(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """By method the agreement, its interval, and the drops."""
    translator = Translator.load(find_checkpoint(options.checkpoint), options.device)
    sources = (source for source, _ in read_pairs(options.sentences) if len(source.split()) >= MIN_WORDS)
    chosen = list(islice(sources, 3 if options.quick else options.count))
    methods = [method for method in METHODS if options.slow or method not in SLOW]
    taus: dict[str, list[float]] = {method: [] for method in methods}
    drops: dict[str, list[list[float]]] = {method: [] for method in methods}
    for number, source in enumerate(tracked(chosen, unit="sentence")):
        run = teacher_forced_run(translator, source, points=POINTS)
        yardstick = attribute(translator, run, method=YARDSTICK)
        for method in methods:
            attribution = yardstick if method == YARDSTICK else attribute(translator, run, method=method, steps=STEPS)
            taus[method].append(agreement(attribution, yardstick))
            one = faithfulness(translator, attribution, words=1, seed=number)
            drops[method].append([float(one.first), float(one.last), float(one.random)])
    drawn = np.random.default_rng(0).integers(len(chosen), size=(DRAWS, len(chosen)))
    result: dict[str, dict[str, Any]] = {}
    for method in methods:
        values = np.array(taus[method])
        low, high = np.nanpercentile(np.nanmean(values[drawn], axis=1), [2.5, 97.5])
        first, last, random = np.mean(drops[method], axis=0)
        result[method] = {
            "tau": float(np.nanmean(values)),
            "interval": [float(low), float(high)],
            "drop": {"first": float(first), "last": float(last), "random": float(random)},
            "sentences": int(np.isfinite(values).sum()),
        }
    return result


def main() -> None:
    """Print a table, then one line of JSON."""
    options = read_options(
        __doc__,
        ("--sentences", {"required": True, "metavar": "FILE", "help": "Parallel text; only the source is read."}),
        ("--checkpoint", {"default": "checkpoints/en-de", "metavar": "DIR", "help": "(default: checkpoints/en-de)"}),
        ("--count", {"type": int, "default": 200, "metavar": "N", "help": "Sentences. (default: 200)"}),
        ("--slow", {"action": "store_true", "help": "Also integrated gradients, ten times as slow as the rest."}),
    )
    measurements = measure(options)
    header = ["method", "tau-b", "95 %", "drop, first", "last", "random"]
    rows = [
        [method, e["tau"], "{:.2f} to {:.2f}".format(*e["interval"]), *e["drop"].values()]
        for method, e in measurements.items()
    ]
    answer = {"agreement": measurements, "checkpoint": options.checkpoint, "text": options.sentences}
    report("Agreement with leave-one-out, and drops of log-probability in nats", header, rows, answer, options)


if __name__ == "__main__":
    main()
