"""What commands on one sentence share: a sentence in, arrays and where they come from in an .npz file out."""

from __future__ import annotations

import argparse
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_core.cli.arguments import Parser, UsageError, check_new_file
from transformer_core.storage.files import atomic_write_bytes

if TYPE_CHECKING:
    from transformer_core.text.tokenizer import Tokenizer
    from transformer_core.translator import Translator

FORMAT_VERSION = 1


def add_sentence(parser: Parser) -> None:
    """The options for the sentence, its translation and the file."""
    parser.add_argument("--source", type=str, required=True, metavar="TEXT", help="The source sentence.")
    parser.add_argument("--target", type=str, metavar="TEXT", help="A translation to read instead of generating one.")
    add_file(parser)


def add_file(parser: Parser) -> None:
    """The options for the file."""
    parser.add_argument("--out", type=str, required=True, metavar="FILE", help="Output file, ending with .npz.")
    parser.add_argument("--force", action="store_true", help="Replace an existing file.")


def sentence_options(options: argparse.Namespace) -> tuple[str, str | None, Path]:
    """Source, target and file. Raises UsageError for a text that is empty or no Unicode, and for an unusable file."""
    out = file_option(options)
    target = None if options.target is None else text_option("--target", options.target)
    return text_option("--source", options.source), target, out


def file_option(options: argparse.Namespace) -> Path:
    """The file. Raises UsageError for an unusable one."""
    out = Path(options.out)
    if out.suffix != ".npz":
        raise UsageError(f"--out is {options.out!r}, but must end with .npz")
    check_new_file("--out", out, options.force)
    return out


def check_lengths(translator: Translator, source: str, target: str | None) -> None:
    """Raise UsageError for a text of too many tokens."""
    check_length(translator, "--source", source, translator.tokenizer.source)
    check_length(translator, "--target", target, translator.tokenizer)


def check_length(translator: Translator, option: str, text: str | None, vocabulary: Tokenizer) -> None:
    """Raise UsageError for one text of too many tokens of a vocabulary."""
    tokens = len(vocabulary.encode(text)) if text else 0
    if tokens > translator.max_tokens:
        raise UsageError(f"{option} has {tokens} tokens, but at most {translator.max_tokens} are allowed")


def provenance_of(translator: Translator, **facts: Any) -> dict[str, Any]:
    """Where arrays come from: the model, and what else is known."""
    return {
        "format_version": FORMAT_VERSION,
        "program": "Headlight",
        "checkpoint": str(translator.checkpoint.folder) if translator.checkpoint else "",
        "checkpoint_hash": translator.checkpoint_hash,
        **facts,
    }


def write_npz(out: Path, arrays: Mapping[str, Any], provenance: Mapping[str, Any]) -> None:
    """Write arrays and, as `provenance`, JSON text; whole or not at all."""
    import numpy as np

    buffer = io.BytesIO()
    text = np.array(json.dumps(provenance, ensure_ascii=False, sort_keys=True))
    np.savez_compressed(buffer, **arrays, provenance=text)
    atomic_write_bytes(out, buffer.getvalue())


def text_option(option: str, given: str) -> str:
    """The text of an argument. Raises UsageError when it is empty or not valid Unicode."""
    try:
        given.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError(f"{option} is not valid UTF-8") from error
    if not given.strip():
        raise UsageError(f"{option} is empty, but must be a sentence")
    return given
