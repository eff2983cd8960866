"""Measure the sentences of a file as `--data` does, against one sentence after the other.

    python -m benchmarks.data_set --sentences FILE [--checkpoint DIR] [--count N] [--quick]

Groups: translations of twenty sentences of like length are one batch, and log-probabilities come in blocks of the
vocabulary. One by one: each sentence is translated alone, and all logits of a batch are in memory at once.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from benchmarks.machine import interleaved, read_options, report
from transformer_core.analysis.effects import head_effects
from transformer_core.analysis.teacher_forced_run import log_probabilities
from transformer_core.atlas.resumable_map import cut
from transformer_core.cli.analyse import attribute, effects, lens
from transformer_core.cli.analyse.data_set import GROUP, measure_group
from transformer_core.data import read_columns
from transformer_core.storage.bundled_models import find_checkpoint
from transformer_core.translator import Translator

COMMANDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "effects": (effects, {"change": "zero", "seed": 0, "frozen_norm": False, "others": []}),
    "lens": (lens, {}),
    "attribute": (attribute, {"method": "alti", "head": None, "steps": 32, "at": None, "tokens": []}),
}
AIM = 1.5


def all_logits(model: Any, states: Any, outputs: Any) -> Any:
    """The readable twin of `generated_log_p`."""
    return log_probabilities(model.logits(states), outputs)


def measure(options: argparse.Namespace) -> dict[str, float]:
    """Median seconds of each command, one by one and in groups."""
    translator = Translator.load(find_checkpoint(options.checkpoint), options.device)
    read = [text for (text,) in read_columns(options.sentences, (0,)) if text.strip()]
    count = 2 if options.quick else options.count
    chosen = read[:: max(1, len(read) // count)][:count]
    texts = sorted(chosen, key=lambda text: len(translator.encode(text)))
    runs: dict[str, Callable[[], object]] = {}
    for name in COMMANDS:
        runs[f"{name}, one by one"] = lambda name=name: one_by_one(translator, name, texts)  # type: ignore[misc]
        runs[name] = lambda name=name: in_groups(translator, name, texts)  # type: ignore[misc]
    return interleaved(runs, rounds=options.rounds or (1 if options.quick else 5), options=options)


def one_by_one(translator: Translator, name: str, texts: list[str]) -> None:
    """Measure each sentence alone."""
    module, choices = COMMANDS[name]
    with patch.object(head_effects, "generated_log_p", all_logits):
        for text in texts:
            module.ANALYSIS.measure(translator, [text, None], choices)


def in_groups(translator: Translator, name: str, texts: list[str]) -> None:
    """Measure the sentences as the command does."""
    for group in cut(list(enumerate(texts)), GROUP):
        measure_group(translator, [name, COMMANDS[name][1], [[line, [text, None]] for line, text in group]])


def main() -> None:
    """Print a table, then one line of JSON."""
    options = read_options(
        __doc__,
        ("--sentences", {"required": True, "metavar": "FILE", "help": "Sentences in the first column."}),
        ("--checkpoint", {"default": "checkpoints/en-de", "metavar": "DIR", "help": "(default: checkpoints/en-de)"}),
        ("--count", {"type": int, "default": 20, "metavar": "N", "help": "Sentences. (default: 20)"}),
    )
    seconds = measure(options)
    ratios = {name: seconds[f"{name}, one by one"] / seconds[name] for name in COMMANDS}
    rows = [[name, value, ratios.get(name, ""), AIM if name in ratios else ""] for name, value in seconds.items()]
    header = ["command", "seconds", "one by one / this", "aim"]
    report("Commands on a file of sentences", header, rows, {"data_set": seconds, "ratios": ratios}, options)


if __name__ == "__main__":
    main()
