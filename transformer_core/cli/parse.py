"""parse: sentences in, trees out; and the scores of a parser."""

from __future__ import annotations

import argparse
import itertools
import logging
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from transformer_core.cli.line_files import line_text, short_lines
from transformer_core.cli.options import Parser, UsageError, load_translator, write_scores, write_summary

if TYPE_CHECKING:
    from transformer_core.constituency_parser import ConstituencyParser, Parse
    from transformer_core.parsing.trees import Tree
    from transformer_core.progress import Bar

log = logging.getLogger(__name__)

_BATCH = 8  # sentences: trees are three times as long as their sentences, and the paper's beam is 21
_BATCHES_AT_A_TIME = 16  # lines read ahead, so that sentences of similar lengths can share a batch
_MOST_BYTES = 1_000_000  # of a line
# Options of `evaluate` that only translations have, and what they are when they are not given.
_OF_TRANSLATION: dict[str, Any] = {
    "unseen": [],
    "causal": None,
    "compare": None,
    "gold": None,
    "per_sentence": False,
    "head_effects": 0,
    "references": "1",
    "target_column": 2,
}


def parser() -> Parser:
    """The options of this command."""
    result = Parser(
        "parse",
        usage="--checkpoint DIR [--beam N] [--alpha N] [--constrained] < sentences > trees",
        description=(
            "Parse standard input, a sentence a line, to standard output, a tree a line.\n\n"
            "Words and punctuation have blanks between them, as in a treebank: `He does n't know .`\n\n"
            "Every input line gives exactly one output line: a tree over all its words, in Penn Treebank brackets.\n"
            "The model knows no parts of speech, so each is XX. An empty line stays empty. What the model generates\n"
            "is repaired where it is no tree; standard error says how often. A line that is too long gives a tree\n"
            "without constituents and a warning; one of more than a megabyte, an empty line and a warning."
        ),
        example="  python -m transformer_core parse --checkpoint my-parser --beam 21 < sentences.txt > trees.txt",
    )
    result.add_checkpoint()
    result.add_search()
    result.add_constrained()
    result.add_batch(_BATCH)
    result.add_machine()
    return result


def run(arguments: Sequence[str]) -> int:
    """Parse standard input."""
    options = parser().options(arguments)
    model = _load(options)

    from transformer_core.progress import progress_bar

    # At a terminal each line is answered at once.
    size = 1 if sys.stdin.isatty() else options.batch * _BATCHES_AT_A_TIME
    numbered = enumerate(short_lines(sys.stdin.buffer, _MOST_BYTES), start=1)
    repairs: Counter[str] = Counter()
    repaired = 0
    with progress_bar(unit="line") as bar:
        while some := list(itertools.islice(numbered, size)):
            lines = {number: _words(number, raw) for number, raw in some}
            filled = [number for number, words in lines.items() if words]
            bar.update(len(lines) - len(filled))
            parses = dict(zip(filled, _parse(model, [lines[n] for n in filled], options, bar), strict=True))
            for number in lines:
                sys.stdout.write(f"{parses[number].tree if number in parses else ''}\n")
            sys.stdout.flush()
            _warn(parses)
            repaired += sum(bool(each.repairs) for each in parses.values())
            repairs.update(count_repairs(parses.values()))
    if repaired:
        told = ", ".join(f"{name} {count}" for name, count in repairs.most_common())
        log.info("%d trees were repaired: %s", repaired, told)
    return 0


def _words(number: int, raw: bytes | None) -> list[str]:
    """The words of a line; none of one that is far too long."""
    if raw is None:
        log.warning("line %d: not parsed: it has more than %d bytes", number, _MOST_BYTES)
        return []
    return line_text(number, raw).split()


def count_repairs(parses: Iterable[Parse]) -> Counter[str]:
    """How often each repair was needed over all parses."""
    total: Counter[str] = Counter()
    for each in parses:
        total.update(each.repairs)
    return total


def _load(options: argparse.Namespace) -> ConstituencyParser:
    """The parser that --checkpoint names. Raises UsageError when it is none."""
    from transformer_core.constituency_parser import ConstituencyParser
    from transformer_core.parsing.vocabulary import NotAParser

    try:
        return ConstituencyParser(load_translator(options))
    except NotAParser as error:
        raise UsageError(f"--checkpoint: {options.checkpoint}: {error}") from error


def _parse(
    model: ConstituencyParser, sentences: Sequence[Sequence[str]], options: argparse.Namespace, bar: Bar
) -> list[Parse]:
    return model.parse_all(
        sentences,
        beam=options.beam,
        alpha=options.alpha,
        constrained=options.constrained,
        batch=options.batch,
        on_progress=bar.update,
    )


def _warn(parses: Mapping[int, Parse]) -> None:
    """Say which lines were not parsed."""
    for number, parse in parses.items():
        if parse.problem:
            log.warning("line %d: %s", number, parse.problem)


# --- evaluate --task parsing ------------------------------------------------------------------------------------------


def evaluate_parser(options: argparse.Namespace) -> int:
    """Parse the sentences of a treebank and print the scores."""
    if given := [name for name, default in _OF_TRANSLATION.items() if getattr(options, name) != default]:
        raise UsageError(f"--{given[0].replace('_', '-')} needs --task translation")

    from transformer_core.data import DataError, read_treebank
    from transformer_core.progress import progress_bar

    gold = list(read_treebank(options.test))
    if not gold:
        raise DataError(f"{options.test} has no trees")
    model = _load(options)
    started = time.monotonic()
    with progress_bar(unit="sentence", total=len(gold)) as bar:
        parses = _parse(model, [tree.words for tree in gold], options, bar)
    seconds = time.monotonic() - started
    _warn(dict(enumerate(parses, start=1)))
    summary = {**_scores(gold, parses), **_how(model, options), "seconds": round(seconds, 3)}
    write_scores(summary)
    write_summary(summary)
    return 0


def _scores(gold: Sequence[Tree], parses: Sequence[Parse]) -> dict[str, Any]:
    """Labelled bracketing, how well formed the sequences were, and the baseline."""
    from transformer_core.parsing.bracketing import score_bracketing
    from transformer_core.parsing.trees import right_branching

    found = score_bracketing(gold, [parse.tree for parse in parses])
    baseline = score_bracketing(gold, [right_branching(tree.words) for tree in gold])
    return {
        "f1": found.f1,
        "f1_95": list(found.f1_interval),
        "precision": found.precision,
        "recall": found.recall,
        "exact_match": found.exact_match,
        "sentences": found.sentences,
        "length_errors": found.errors,
        "well_formed": 100.0 * sum(parse.is_well_formed for parse in parses) / len(parses),
        "repairs": dict(count_repairs(parses).most_common()),
        "not_parsed": sum(bool(parse.problem) for parse in parses),
        "right_branching_f1": baseline.f1,
    }


def _how(model: ConstituencyParser, options: argparse.Namespace) -> dict[str, Any]:
    translator = model.translator
    return {
        "task": "parsing",
        "beam": translator.decoding.beam if options.beam is None else options.beam,
        "alpha": translator.decoding.alpha if options.alpha is None else options.alpha,
        "length_penalty": translator.decoding.length_penalty,
        "constrained": options.constrained,
        "test": options.test,
        "checkpoint": str(translator.checkpoint.folder) if translator.checkpoint else "",
        "checkpoint_hash": translator.checkpoint_hash,
    }
