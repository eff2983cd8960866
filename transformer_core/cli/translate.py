"""translate: lines in, lines out."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Sequence
from itertools import islice

from transformer_core.cli.options import (
    Parser,
    add_checkpoint,
    add_machine,
    add_search,
    check_at_least,
    load_translator,
)

log = logging.getLogger(__name__)

_BATCHES_AT_A_TIME = 16  # lines read ahead, so that lines of similar lengths can share a batch


def parser() -> Parser:
    """The options of this command."""
    result = Parser(
        "translate",
        usage="--checkpoint DIR [--beam N] [--alpha N] [--batch N] < lines > lines",
        description=(
            "Translate standard input, line by line, to standard output.\n\n"
            "There is one line out for each line in, always. An empty line stays empty. A line that is too long gives\n"
            "an empty line and a warning on standard error; so nothing ever shifts."
        ),
        example="  python -m transformer_core translate --checkpoint checkpoints/en-de < english.txt > german.txt",
    )
    add_checkpoint(result)
    add_search(result)
    result.add_argument("--batch", type=int, default=32, metavar="N", help="Lines translated together at most.")
    add_machine(result)
    return result


def run(arguments: Sequence[str]) -> int:
    """Translate standard input."""
    options = parser().options(arguments)
    check_at_least("--batch", options.batch, 1)
    translator = load_translator(options)

    from transformer_core.evaluation import translate_lines
    from transformer_core.progress import progress_bar

    # Somebody who types wants an answer to each line; a file is read in larger portions.
    portion = 1 if sys.stdin.isatty() else options.batch * _BATCHES_AT_A_TIME
    lines, done = _lines(), 0
    with progress_bar(unit="line") as bar:
        while chunk := list(islice(lines, portion)):
            results = translate_lines(
                translator,
                chunk,
                beam=options.beam,
                alpha=options.alpha,
                batch=options.batch,
                on_progress=bar.update,
            )
            for number, result in enumerate(results, start=done + 1):
                if result.problem:
                    log.warning("line %d: %s", number, result.problem)
                sys.stdout.write(result.text + "\n")
            sys.stdout.flush()
            done += len(chunk)
    return 0


def _lines() -> Iterator[str]:
    """Lines of standard input; only a line feed ends one, and bytes that are no UTF-8 become U+FFFD."""
    for number, raw in enumerate(sys.stdin.buffer, start=1):
        data = raw.removesuffix(b"\n").removesuffix(b"\r")
        if number == 1:
            data = data.removeprefix(b"\xef\xbb\xbf")  # the byte order mark that some editors of Windows write
        try:
            yield data.decode("utf-8")
        except UnicodeDecodeError:
            log.warning("line %d: not UTF-8; what cannot be read became U+FFFD", number)
            yield data.decode("utf-8", "replace")
