"""Measure the experiments of the Lab on one sentence, against the same experiments one by one.

    python -m benchmarks.lab [--checkpoint DIR] [--sentence TEXT] [--quick]

One by one: the forced pass again for each head, with that head switched off by an ordinary edit. One batch: the same
heads as rows of one batch, each row through the whole model. What the app does shares what lies before the head.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import torch

from benchmarks.machine import interleaved, read_options, report
from transformer_core.analysis.ablation import ablated, all_heads
from transformer_core.analysis.attention_override import AttentionOverride, override_attention, uniform_row
from transformer_core.analysis.attribution import METHODS, POINTS, STEPS, Method, attribute
from transformer_core.analysis.effects.cumulative_ablation import cumulative_ablation, log_p_without
from transformer_core.analysis.effects.head_effects import head_effects
from transformer_core.analysis.flow import flow
from transformer_core.analysis.lens import decoder_lens, logit_lens
from transformer_core.analysis.patching import SITES, patching
from transformer_core.analysis.score_decomposition import POINTS as PARTS_POINTS
from transformer_core.analysis.score_decomposition import decompose_score
from transformer_core.analysis.teacher_forced_run import teacher_forced_run
from transformer_core.storage.bundled_models import find_checkpoint
from transformer_core.translator import Translation, Translator

SENTENCE = "A man in a blue shirt is standing on a tall ladder."  # 12 words with its full stop
PAIR = ("The child plays in the garden.", "The children play in the garden.")
SLOW: Method = "integrated-gradients"
AIMS = {
    "redirect": 0.5,
    "lens": 0.7,
    "trace": 2.0,
    "flow": 0.25,
    "patch heads": 3.0,
    "patch residual": 3.0,
    "patch ffn": 3.0,
    "effects": 1.5,
}


def measure(options: argparse.Namespace) -> dict[str, float]:
    """Median seconds of each experiment."""
    translator = Translator.load(find_checkpoint(options.checkpoint), options.device)
    source = "A man rides." if options.quick else options.sentence
    translation = translator.translate(source)
    keys = len(teacher_forced_run(translator, source, translation).source_tokens)
    row = AttentionOverride(f"cross.{translator.config.num_layers}.1", 1, uniform_row(keys))
    runs: dict[str, Callable[[], object]] = {
        "effects, one by one": lambda: one_by_one(translator, source, translation),
        "effects, one batch": lambda: one_batch(translator, source, translation),
        "effects": lambda: head_effects(translator, source, translation),
        "lens": lambda: logit_lens(translator, source, translation),
        "decoder lens": lambda: decoder_lens(translator, source),
        "trace": lambda: trace(translator, source, translation),
        "flow": lambda: flow(translator, (source, translation.text)),
        SLOW: lambda: trace(translator, source, translation, (SLOW,)),
        "redirect": lambda: override_attention(translator, source, [row], translation),
        "why there": lambda: parts(translator, source, translation),
        "staircase": lambda: cumulative_ablation(translator, source, translation, random_orders=3),
    }
    for site in SITES:
        runs[f"patch {site}"] = lambda site=site: patching(translator, *PAIR, site=site)  # type: ignore[misc]
    if options.quick:
        del runs[SLOW]
    rounds = options.rounds or (1 if options.quick else 5)
    return interleaved(runs, rounds=rounds, options=options)


@torch.no_grad()
def one_by_one(translator: Translator, source: str, translation: Translation) -> list[Any]:
    """The log-probabilities without each head, from a forced pass of their own."""
    values = []
    for head in all_heads(translator):
        with ablated(translator, [head]):
            values.append(teacher_forced_run(translator, source, translation).log_p)
    return values


def one_batch(translator: Translator, source: str, translation: Translation) -> torch.Tensor:
    """Run all heads in one batch, without sharing the layers before a head."""
    run = teacher_forced_run(translator, source, translation)
    return log_p_without(translator, run, [[head] for head in all_heads(translator)])


def trace(
    translator: Translator, source: str, translation: Translation, methods: tuple[Method, ...] | None = None
) -> None:
    """Every method of attribution but the slow one, from one forced pass."""
    run = teacher_forced_run(translator, source, translation, points=POINTS)
    for method in methods or [each for each in METHODS if each != SLOW]:
        attribute(translator, run, method=method, steps=STEPS)


def parts(translator: Translator, source: str, translation: Translation) -> None:
    """All scores of one head of the last layer by origin."""
    run = teacher_forced_run(translator, source, translation, points=PARTS_POINTS)
    decompose_score(translator, run, f"cross.{translator.config.num_layers}.1", by="token")


def main() -> None:
    """Print a table, then one line of JSON."""
    options = read_options(
        __doc__,
        ("--checkpoint", {"default": "checkpoints/en-de", "metavar": "DIR", "help": "(default: checkpoints/en-de)"}),
        ("--sentence", {"default": SENTENCE, "metavar": "TEXT", "help": f"(default: {SENTENCE})"}),
    )
    seconds = measure(options)
    slow = seconds["effects, one by one"]
    ratios = {name: slow / value for name, value in seconds.items() if name.startswith("effects")}
    rows = [[name, value, ratios.get(name, ""), AIMS.get(name, "")] for name, value in seconds.items()]
    header = ["experiment", "seconds", "one by one / this", "aim, seconds"]
    report("Experiments of the Lab", header, rows, {"lab": seconds, "ratios": ratios}, options)


if __name__ == "__main__":
    main()
