"""evaluate: a test set in, scores out."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from transformer_core.cli.options import (
    Parser,
    UsageError,
    add_checkpoint,
    add_machine,
    add_search,
    check_at_least,
    existing_text,
    load_translator,
)

if TYPE_CHECKING:
    from transformer_core.evaluation import Evaluation, TestSet
    from transformer_core.translator import Translator

log = logging.getLogger(__name__)


def parser() -> Parser:
    """The options of this command."""
    result = Parser(
        "evaluate",
        usage="--checkpoint DIR --test FILE [--beam N | --greedy] [--references N] [--per-sentence]",
        description=(
            "Translate a test set and compare it with translations that people made.\n\n"
            "Prints a table, then one line of JSON with BLEU, chrF and their sacreBLEU signatures, so that\n"
            "`... | tail -n 1` is all that a program needs to read."
        ),
        example="  python -m transformer_core evaluate --checkpoint checkpoints/en-de --test test.en-de.tsv.xz",
    )
    add_checkpoint(result)
    result.add_argument(
        "--test",
        type=str,
        required=True,
        metavar="FILE",
        help="A .tsv, .tsv.xz or .tsv.gz with the source in its first column, or two files: test.en,test.de",
    )
    result.add_argument(
        "--target-column",
        type=int,
        default=2,
        metavar="N",
        help="Column of the first reference; the source is column 1.",
    )
    result.add_argument(
        "--references",
        type=str,
        default="1",
        metavar="N",
        help="Columns that hold references, or `all`; a line may have fewer.",
    )
    add_search(result)
    result.add_argument("--greedy", action="store_true", help="The same as --beam 1.")
    result.add_argument("--batch", type=int, default=32, metavar="N", help="Lines translated together at most.")
    result.add_argument("--per-sentence", action="store_true", help="A row for each sentence before the scores.")
    add_machine(result)
    return result


def run(arguments: Sequence[str]) -> int:
    """Score a checkpoint on a test set."""
    options = parser().options(arguments)
    check_at_least("--batch", options.batch, 1)
    check_at_least("--target-column", options.target_column, 2)
    references = _references(options.references)
    if options.greedy:
        if options.beam not in (None, 1):
            raise UsageError(f"--greedy is the same as --beam 1, but --beam is {options.beam}; give one of them")
        options.beam = 1
    existing_text("--test", options.test)
    if references != 1 and "," in options.test:
        raise UsageError("--references needs one file with columns, not two files")
    translator = load_translator(options)

    from transformer_core.evaluation import TestSet, evaluate
    from transformer_core.progress import progress_bar

    test = TestSet.read(options.test, target_column=options.target_column - 1, references=references)
    with progress_bar(unit="line", total=len(test.sources)) as bar:
        result = evaluate(
            translator, test, beam=options.beam, alpha=options.alpha, batch=options.batch, on_progress=bar.update
        )
    for number, line in enumerate(result.lines, start=1):
        if line.problem:
            log.warning("line %d: %s", number, line.problem)
    if options.per_sentence:
        for row in _sentence_rows(test, result):
            sys.stdout.write("\t".join(row) + "\n")
        sys.stdout.write("\n")
    summary = _summary(translator, test, result, options.test, options.beam, options.alpha)
    for name, value in summary.items():
        shown = f"{value:.2f}" if isinstance(value, float) else str(value)
        sys.stdout.write(f"{name:<16}  {shown}\n")
    sys.stdout.write(json.dumps(summary, ensure_ascii=False) + "\n")
    return 0


def _references(given: str) -> int | None:
    if given == "all":
        return None
    if not (given.isascii() and given.isdecimal() and int(given) > 0):
        raise UsageError(f"--references is {given!r}, but must be a positive whole number or all")
    return int(given)


def _summary(
    translator: Translator, test: TestSet, result: Evaluation, name: str, beam: int | None, alpha: float | None
) -> dict[str, str | int | float]:
    return {
        "bleu": result.bleu.value,
        "signature": result.bleu.signature,
        "chrf": result.chrf.value,
        "chrf_signature": result.chrf.signature,
        "sentences": len(test.sources),
        "not_translated": sum(line.problem.startswith("not translated") for line in result.lines),
        "references": max(map(len, test.references)),
        "beam": translator.decoding.beam if beam is None else beam,
        "alpha": translator.decoding.alpha if alpha is None else alpha,
        "seconds": round(result.seconds, 3),
        "test": name,
        "checkpoint": str(translator.checkpoint.folder) if translator.checkpoint else "",
        "checkpoint_hash": translator.checkpoint_hash,
    }


def _sentence_rows(test: TestSet, result: Evaluation) -> Iterator[tuple[str, ...]]:
    """A header, then number, chrF of the sentence alone, source, translation, references."""
    from sacrebleu.metrics.chrf import CHRF

    metric = CHRF()
    most = max(map(len, test.references))
    yield ("number", "chrf", "source", "translation", *(f"reference {i}" for i in range(1, most + 1)))
    for number, (source, line, references) in enumerate(
        zip(test.sources, result.lines, test.references, strict=True), start=1
    ):
        score = metric.sentence_score(line.text, list(references)).score
        yield (str(number), f"{score:.1f}", source, line.text, *references)
