"""Measure a parser, free and constrained, beside a translator that generates as much.

    python -m benchmarks.parse --checkpoint DIR [--sentences FILE] [--beam 1 4 21] [--quick] [--clock cpu]

Sentences one by one, each from its words to its tree: `free` generates any symbols, which are repaired where they are
no tree; `constrained` generates nothing but trees. `translator` has random weights in the same shape, reads the same
source tokens and takes as many steps as the search of `free` did, without a constraint: `</s>` is forbidden before.
All take turns. `peak MiB` is the memory of the process while it parses all sentences; on a GPU that of its tensors
there.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from benchmarks.machine import interleaved, read_options, report
from transformer_core.constituency_parser import ConstituencyParser, Parse
from transformer_core.model.transformer import Transformer
from transformer_core.parsing.words import split_words
from transformer_core.storage.bundled_models import find_checkpoint
from transformer_core.translator import Translator

SENTENCES = "checkpoints/sentences.txt"
BEAMS = (1, 4, 21)
_MIB = 2**20


def read_lines(file: str, most: int) -> list[tuple[str, ...]]:
    """The words of each line, split as the treebank does, without empty lines."""
    lines = Path(file).read_text(encoding="utf-8").splitlines()
    sentences = [words for line in lines if (words := split_words(line))]
    if not sentences:
        raise SystemExit(f"--sentences is {file!r}, but holds no sentence")
    return sentences[:most]


def stranger(translator: Translator, device: str) -> Translator:
    """A translator of the same shape with random weights, whose search is free."""
    decoding = translator.decoding.replace(constrained=False)
    return Translator(Transformer(translator.config).to(device), translator.tokenizer, decoding)


def parse_each(parser: ConstituencyParser, sentences: Sequence[tuple[str, ...]], **options: Any) -> list[Parse]:
    """Each sentence alone, as an app does."""
    return [parser.parse_all([words], **options)[0] for words in sentences]


def steps_of(parse: Parse) -> int:
    """Return the number of steps of a search."""
    if parse.translation is None:
        raise SystemExit(f"--sentences: {parse.problem}")
    return max(node.step for node in parse.translation.history)


def translate_each(translator: Translator, lines: Sequence[str], steps: Sequence[int], beam: int) -> None:
    """Search each line alone, for a given number of steps."""
    for line, count in zip(lines, steps, strict=True):
        extra = max(1, count - len(translator.encode(line)))
        decoding = translator.decoding.replace(min_length=count, extra_length=extra)
        translation = Translator(translator.model, translator.tokenizer, decoding).translate(line, beam=beam)
        if len(translation.tokens) < count:
            raise RuntimeError(f"the translator generated {len(translation.tokens)} tokens, the parser {count}")


def peak(run: Callable[[], object], device: str) -> float | None:
    """Return the peak MiB of a run; None where the system does not tell."""
    if torch.device(device).type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        run()
        return torch.cuda.max_memory_allocated(device) / _MIB
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forgets the peak so far
    except OSError:
        return None
    run()
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")), None)


def measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    """One entry for each beam."""
    checkpoint = find_checkpoint(options.checkpoint)
    parser = ConstituencyParser(Translator.load(checkpoint, options.device))
    other = stranger(parser.translator, options.device)
    sentences = read_lines(options.sentences, 2 if options.quick else 10_000)
    lines = [" ".join(words) for words in sentences]
    entries = []
    for beam in options.beam or ((1, 2) if options.quick else BEAMS):
        free, constrained = (parse_each(parser, sentences, beam=beam, constrained=each) for each in (False, True))
        steps = [steps_of(parse) for parse in free]
        runs: dict[str, Callable[[], object]] = {
            "free": partial(parse_each, parser, sentences, beam=beam, constrained=False),
            "constrained": partial(parse_each, parser, sentences, beam=beam, constrained=True),
            "translator": partial(translate_each, other, lines, steps, beam),
        }
        seconds = interleaved(runs, rounds=options.rounds or (1 if options.quick else 5), options=options)
        entries.append(
            {
                "beam": beam,
                "sentences": len(sentences),
                "steps": {"free": sum(steps), "constrained": sum(map(steps_of, constrained))},
                "well_formed": {
                    name: sum(parse.is_well_formed for parse in parses)
                    for name, parses in (("free", free), ("constrained", constrained))
                },
                "per_second": {name: len(sentences) / value for name, value in seconds.items()},
                "over_translator": {name: seconds[name] / seconds["translator"] for name in ("free", "constrained")},
                "peak_mib": {name: peak(run, options.device) for name, run in runs.items()},
            }
        )
    return entries


def main() -> None:
    """Print a table, then one line of JSON."""
    options = read_options(
        __doc__,
        ("--checkpoint", {"required": True, "metavar": "DIR", "help": "Folder of a parser."}),
        (
            "--sentences",
            {"default": SENTENCES, "metavar": "FILE", "help": f"A sentence a line. (default: {SENTENCES})"},
        ),
        ("--beam", {"type": int, "nargs": "+", "metavar": "N", "help": "1 is greedy. (default: 1 4 21)"}),
    )
    entries = measure(options)
    header = ["beam", "who", "sentences / s", "time / translator", "well-formed", "peak MiB"]
    rows = [
        [
            e["beam"],
            name,
            value,
            e["over_translator"].get(name, 1.0),
            e["well_formed"].get(name, ""),
            e["peak_mib"][name],
        ]
        for e in entries
        for name, value in e["per_second"].items()
    ]
    report(f"Parsing {entries[0]['sentences']} sentences, one by one", header, rows, {"parse": entries}, options)


if __name__ == "__main__":
    main()
