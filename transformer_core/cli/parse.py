"""Parse standard input, a sentence a line, to standard output, a tree a line.

Words and punctuation have blanks between them, as in a treebank: `He does n't know .`
With --split they need not: `He doesn't know.` is split so first.

Every input line gives exactly one output line: a tree over all its words, in Penn Treebank brackets.
The model knows no parts of speech, so each is XX. An empty line stays empty. What the model generates
is repaired where it is no tree; standard error says how often. A line that is too long gives a tree
without constituents and a warning; one of more than a megabyte, an empty line and a warning.

Example:
  python -m transformer_core parse --checkpoint my-parser --beam 21 < sentences.txt > trees.txt
"""

from __future__ import annotations

import itertools
import logging
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from transformer_core.cli.arguments import Options, Parser, UsageError, counted, load_translator
from transformer_core.cli.line_files import TOO_LONG, line_text, raw_lines
from transformer_core.parsing.words import split_words

if TYPE_CHECKING:
    from transformer_core.constituency_parser import ConstituencyParser, Parse

log = logging.getLogger(__name__)

_BATCH = 8  # sentences: trees are three times as long as their sentences, and the paper's beam is 21
_BATCHES_AT_A_TIME = 16  # lines read ahead, so that sentences of similar lengths can share a batch


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    parser.add_checkpoint()
    parser.add_argument("--split", action="store_true", help="Split typed lines into words as the treebank does.")
    parser.add_search()
    parser.add_batch(_BATCH)
    parser.add_machine()


def run(options: Options) -> int:
    """Parse standard input."""
    model = load_parser(options)

    from transformer_core.constituency_parser import count_repairs
    from transformer_core.progress import progress_bar

    # At a terminal each line is answered at once.
    size = 1 if sys.stdin.isatty() else options.batch * _BATCHES_AT_A_TIME
    numbered = enumerate(raw_lines(None), start=1)
    repairs: Counter[str] = Counter()
    repaired = 0
    with progress_bar(unit="line") as bar:
        while some := list(itertools.islice(numbered, size)):
            lines = {number: _words(number, raw, split=options.split) for number, raw in some}
            filled = [number for number, words in lines.items() if words]
            bar.update(len(lines) - len(filled))
            results = model.parse_all([lines[n] for n in filled], batch=options.batch, on_progress=bar.update)
            parses = dict(zip(filled, results, strict=True))
            for number in lines:
                sys.stdout.write(f"{parses[number].tree if number in parses else ''}\n")
            sys.stdout.flush()
            warn_of_problems(parses)
            repaired += sum(bool(each.repairs) for each in parses.values())
            repairs.update(count_repairs(parses.values()))
    if repaired:
        by_kind = ", ".join(f"{name} {count}" for name, count in repairs.most_common())
        log.info("repaired %s: %s", counted(repaired, "tree"), by_kind)
    return 0


def _words(number: int, raw: bytes | None, *, split: bool) -> Sequence[str]:
    """Return the words of a line; none for a line that is far too long."""
    if raw is None:
        log.warning("line %d: not parsed: %s", number, TOO_LONG)
        return []
    text = line_text(number, raw)
    return split_words(text) if split else text.split()


def load_parser(options: Options) -> ConstituencyParser:
    """Load the parser of --checkpoint. Raises UsageError for another model."""
    from transformer_core.constituency_parser import ConstituencyParser
    from transformer_core.parsing.vocabulary import NotAParser

    try:
        return ConstituencyParser(load_translator(options))
    except NotAParser as error:
        raise UsageError(f"--checkpoint: {options.checkpoint}: {error}") from error


def warn_of_problems(parses: Mapping[int, Parse]) -> None:
    """Warn of lines that were not parsed."""
    for number, parse in parses.items():
        if parse.problem:
            log.warning("line %d: %s", number, parse.problem)
