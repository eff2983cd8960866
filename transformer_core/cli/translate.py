"""Translate standard input, line by line, to standard output; or --input to --output.

Every input line gives exactly one output line. An empty line stays empty. A line that is too long gives
an empty line and a warning on standard error, so that lines stay aligned.

With --nbest each output line is one JSON object:

  {"line": 1, "source": "...", "candidates": [
    {"text": "...", "score": -1.2, "log_probability": -1.5, "finished": true}, ...], "problem": ""}

candidates are the N best, best first; score is the log-probability (nats) over the length penalty;
finished is false if the length limit cut it off; problem says why a line has no translation.

Under torchrun several processes share the lines of one file; the order is kept:

  torchrun --nproc-per-node 8 -m transformer_core translate --checkpoint DIR --input FILE --output FILE

Example:
  python -m transformer_core translate --checkpoint checkpoints/en-de < english.txt > german.txt
"""

from __future__ import annotations

import dataclasses
import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from transformer_core.cli.arguments import Options, Parser, UsageError, counted, load_translator
from transformer_core.cli.line_files import TOO_LONG, line_text, raw_lines
from transformer_core.cli.shards import Shard, barrier, merge_parts
from transformer_core.storage.files import name_file

if TYPE_CHECKING:
    from transformer_core.evaluation.evaluate import TranslatedLine

log = logging.getLogger(__name__)

_BATCHES_AT_A_TIME = 16  # lines read ahead, so that lines of similar lengths can share a batch


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    parser.add_checkpoint()
    parser.add_languages()
    parser.add_search()
    parser.add_number("--nbest", 0, "Write the N best translations as JSON; at most --beam.", least=0)
    parser.add_path("--input", "Read this file instead of standard input.")
    parser.add_output("Write this file, atomically.", flag="--output", required=False)
    parser.add_batch()
    parser.add_machine()


def run(options: Options) -> int:
    """Translate standard input or a file."""
    shard = Shard.from_environment()
    output = options.output
    if shard.world_size > 1 and (options.input is None or output is None):
        raise UsageError(
            "several processes cannot share standard input and output; give --input FILE and --output FILE"
        )
    if options.device == "auto" and shard.world_size > 1:
        options.device = _device_of(shard)
    translator = load_translator(options)
    if options.nbest > (beam := translator.decoding.beam):
        raise UsageError(f"--nbest is {options.nbest}, but must be at most the beam, {beam}; raise --beam")

    from transformer_core.evaluation.evaluate import TranslatedLine, translate_lines
    from transformer_core.progress import progress_bar

    # At a terminal each line is answered at once; a file is read in larger chunks.
    size = 1 if options.input is None and sys.stdin.isatty() else options.batch * _BATCHES_AT_A_TIME
    total = None if options.input is None else shard.line_count(sum(1 for _ in raw_lines(options.input)), size)
    count = empty = failed = 0
    with barrier(shard), _writer(shard, output) as out, progress_bar(unit="line", total=total) as bar:
        for first, raw in shard.chunks(raw_lines(options.input), size):
            lines = [line_text(number, line or b"") for number, line in enumerate(raw, start=first)]
            results = translate_lines(
                translator,
                lines,
                batch=options.batch,
                nbest=options.nbest,
                on_progress=bar.update,
            )
            for place, text in enumerate(raw):
                if text is None:
                    results[place] = TranslatedLine("", f"not translated: {TOO_LONG}")
            for number, (line, result) in enumerate(zip(lines, results, strict=True), start=first):
                if result.problem:
                    log.warning("line %d: %s", number, result.problem)
                out.write((_as_json(number, line, result) if options.nbest else result.text) + "\n")
            out.flush()
            count += len(lines)
            empty += sum(not line.strip() for line, text in zip(lines, raw, strict=True) if text is not None)
            failed += sum(result.problem.startswith("not translated") for result in results)
    if empty or failed:
        log.info("%s: %d empty, %d not translated", counted(count, "line"), empty, failed)
    if output and shard.rank == 0:
        merge_parts(shard, output, size)
    return 0


def _device_of(shard: Shard) -> str:
    import torch

    return f"cuda:{shard.local_rank % torch.cuda.device_count()}" if torch.cuda.is_available() else "cpu"


@contextmanager
def _writer(shard: Shard, output: Path | None) -> Iterator[TextIO]:
    """Open standard output, or this process's part of the output, which is removed on an error."""
    if output is None:
        yield sys.stdout
        return
    part = shard.part(output)
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            yield file
    except BaseException as error:
        part.unlink(missing_ok=True)
        name_file(error, output)
        raise


def _as_json(number: int, source: str, result: TranslatedLine) -> str:
    candidates = [dataclasses.asdict(candidate) for candidate in result.candidates]
    line = {"line": number, "source": source, "candidates": candidates, "problem": result.problem}
    return json.dumps(line, ensure_ascii=False)
