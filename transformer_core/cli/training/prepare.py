"""Tokenise parallel text once and store it for training.

Without --tokenizer, one vocabulary is learned from both languages (SentencePiece BPE, Section 5.1).

--task parsing takes trees in Penn Treebank brackets, on one line or several each. Sources are their
words, targets their brackets (Section 6.3). --vocab-size is that of the words. The target's vocabulary
holds a pair of brackets for each label, and XX for every word.

Example:
  python -m transformer_core prepare --train talks.tsv.xz news.en,news.de --vocab-size 8000 --out data
  python -m transformer_core prepare --task parsing --train wsj.trees.xz --vocab-size 8000 --out trees
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_core.cli.arguments import (
    Options,
    Parser,
    UsageError,
    check_at_least,
    check_new_folder,
    check_task,
    write_summary,
)
from transformer_core.storage.files import atomic_directory

if TYPE_CHECKING:
    from transformer_core.text.tokenizer import Tokenizer

log = logging.getLogger(__name__)

DEFAULT_VOCABULARY = 8_000


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    parser.add_task()
    add_training_text(parser)
    parser.add_argument(
        "--vocab-size", type=int, metavar="N", help=f"Size of a new vocabulary. (default: {DEFAULT_VOCABULARY})"
    )
    about = "Size of a separate source vocabulary; --vocab-size is then the target's. 0 shares one."
    parser.add_number("--source-vocab-size", 0, about, least=0)
    parser.add_number("--seed", 1, "Random seed for --typo-rate.", least=0)
    parser.add_argument("--out", required=True, metavar="DIR", help="New folder for the prepared text.")


def add_training_text(parser: Parser) -> None:
    """Add the options that `train` shares: text, vocabulary."""
    about = (
        "Parallel text: .tsv, .tsv.xz or .tsv.gz with source and target in the first two columns, or two plain "
        "files separated by a comma: train.en,train.de; or trees: train.trees.xz"
    )
    parser.add_path("--train", about, many=True, parallel=True)
    parser.add_path("--tokenizer", "An existing vocabulary, such as tokenizer.model of a checkpoint.")
    about = "Share of pairs to add again with typos in the source: lower case, no punctuation."
    parser.add_argument("--typo-rate", type=float, default=0.0, metavar="P", help=about)


def run(options: Options) -> int:
    """Prepare a corpus."""
    if not options.train:
        raise UsageError("missing: --train FILE ...")
    if options.tokenizer and (options.vocab_size or options.source_vocab_size):
        raise UsageError("--tokenizer is a vocabulary already; leave --source-vocab-size and --vocab-size out")
    check_task(options.task, "--train", options.train)
    if options.task == "parsing" and options.source_vocab_size:
        raise UsageError("--task parsing: --vocab-size is that of the words; leave --source-vocab-size out")
    out = Path(options.out)
    check_new_folder(out)
    meta = prepare_text(
        options.train,
        out,
        tokenizer=options.tokenizer,
        vocab_size=options.vocab_size or DEFAULT_VOCABULARY,
        source_vocab_size=options.source_vocab_size,
        typo_rate=options.typo_rate,
        seed=options.seed,
    )
    write_summary(meta)
    return 0


def prepare_text(
    specs: Sequence[str],
    out: Path,
    *,
    tokenizer: str | None,
    vocab_size: int,
    source_vocab_size: int,
    typo_rate: float,
    seed: int,
) -> dict[str, Any]:
    """Learn or load the vocabulary, then write the folder, whole or not at all. Returns its `meta.json`.

    Of trees `vocab_size` is that of the words.
    """
    from transformer_core.data import is_treebank

    if not 0.0 <= typo_rate <= 1.0:
        raise UsageError(f"--typo-rate is {typo_rate}, but must be from 0 to 1")
    check_at_least("--vocab-size", vocab_size, 5)
    trees = [is_treebank(spec) for spec in specs]
    if any(trees) and (typo_rate or not all(trees)):
        raise UsageError("--train: trees go neither with parallel text nor with --typo-rate")
    if source_vocab_size:
        check_at_least("--source-vocab-size", source_vocab_size, 5)

    from transformer_core.data import prepare
    from transformer_core.progress import tracked
    from transformer_core.text.tokenizer import Tokenizer

    if tokenizer:
        vocabulary = Tokenizer.load(tokenizer)
        if any(trees):
            _check_labels(specs, vocabulary, tokenizer)
    else:
        vocabulary = _learn_parser(specs, vocab_size) if any(trees) else _learn(specs, vocab_size, source_vocab_size)
    with atomic_directory(out) as partial:
        meta = prepare(
            specs,
            partial,
            vocabulary,
            typo_rate=typo_rate,
            seed=seed,
            progress=lambda pairs: tracked(pairs, unit="pair"),
        )
    log.info("%s: %d pairs, vocabulary of %d tokens", out, meta["pairs"], meta["vocab_size"])
    return meta


def _learn(specs: Sequence[str], vocab_size: int, source_vocab_size: int) -> Tokenizer:
    """Learn a vocabulary from both sides of the text, or one from each side."""
    from transformer_core.data import read_pairs
    from transformer_core.progress import tracked
    from transformer_core.text.tokenizer import Tokenizer

    def texts(sides: slice) -> Iterator[str]:
        for spec in specs:
            for pair in tracked(read_pairs(spec), unit="pair"):
                yield from pair[sides]

    log.info("learning a vocabulary of %d tokens", vocab_size)
    if not source_vocab_size:
        return Tokenizer.train(texts(slice(2)), vocab_size)
    target = Tokenizer.train(texts(slice(1, 2)), vocab_size)
    log.info("learning a vocabulary of %d tokens for the source", source_vocab_size)
    return Tokenizer(target.model, Tokenizer.train(texts(slice(1)), source_vocab_size).model)


def _learn_parser(specs: Sequence[str], vocab_size: int) -> Tokenizer:
    """Learn vocabularies of the words and of the brackets of trees."""
    from transformer_core.data import read_pairs
    from transformer_core.parsing.vocabulary import learn_vocabularies
    from transformer_core.progress import tracked

    def pairs() -> Iterator[tuple[str, str]]:
        for spec in specs:
            yield from tracked(read_pairs(spec), unit="tree")

    log.info("learning a vocabulary of %d tokens for the words", vocab_size)
    return learn_vocabularies(pairs, vocab_size)


def _check_labels(specs: Sequence[str], vocabulary: Tokenizer, path: str) -> None:
    """Raise UsageError for a vocabulary that is no parser's, or that lacks labels of the trees."""
    from transformer_core.data import read_treebank
    from transformer_core.parsing.sequences import WORD, to_symbols
    from transformer_core.parsing.vocabulary import NotAParser, SymbolTable

    try:
        known = SymbolTable.from_tokenizer(vocabulary).opening
    except NotAParser as error:
        raise UsageError(f"--tokenizer: {path}: {error}") from error
    for spec in specs:
        for tree in read_treebank(spec):
            if missing := sorted({symbol[1:] for symbol in to_symbols(tree) if symbol != WORD} - known.keys()):
                raise UsageError(f"--tokenizer: {path} lacks the label {missing[0]} of {spec}")
