"""Parallel text: tables or two plain files, compressed or not."""

from __future__ import annotations

import gzip
import lzma
import random
import unicodedata
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from transformer_core.parsing.sequences import to_symbols
from transformer_core.parsing.treebank import MAX_CHARACTERS, TreeError, parse_trees
from transformer_core.parsing.trees import Tree

_MAX_GROWTH = 100  # of text by decompression; some formats of much the same lines reach 20
_FREE_CHARACTERS = 2_000_000  # that a small file may grow to anyway


class DataError(ValueError):
    """Training or test text that cannot be used; the message names the file and the line."""


def _open_text(path: Path) -> IO[str]:
    openers: dict[str, Callable[..., Any]] = {".xz": lzma.open, ".gz": gzip.open}
    opener = openers.get(path.suffix, open)
    text: IO[str] = opener(path, "rt", encoding="utf-8", newline="\n")
    return text


def read_lines(path: Path, max_characters: int = MAX_CHARACTERS) -> Iterator[str]:
    """Yield lines of a text file, plain or compressed.

    Raises:
        DataError: It cannot be read, is not UTF-8, has a line that is too long, or grows too much by decompression.
    """
    try:
        with _open_text(path) as file:
            number, room = 0, _MAX_GROWTH * path.stat().st_size + _FREE_CHARACTERS
            while line := file.readline(max_characters + 2):  # with its line feed
                number += 1
                room -= len(line)
                if room < 0:
                    raise DataError(f"{path} grows more than {_MAX_GROWTH}-fold when decompressed, unlike any text")
                text = line.rstrip("\r\n")
                if len(text) > max_characters:
                    raise DataError(f"{path}, line {number}: has more than {max_characters:,} characters")
                yield text
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text: {error}") from error
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise DataError(f"cannot read {path}: {error}") from error


def read_pairs(spec: str | Path, target_column: int = 1) -> Iterator[tuple[str, str]]:
    """Yield source and target of each line.

    Args:
        spec: A `.tsv`, `.tsv.xz` or `.tsv.gz` file with the source in its first column, or two plain files of the same
            number of lines, written `train.en,train.de`. Of a treebank (see `is_treebank`) the sources are sentences
            and the targets their symbols.
        target_column: Which column of a tsv is the target, counted from 0.

    Raises:
        DataError: A file cannot be read, a line has too few columns, or two files differ in length.
    """
    name = str(spec)
    if is_treebank(spec):
        for tree in read_treebank(spec):
            yield " ".join(tree.words), " ".join(to_symbols(tree))
        return
    if "," in name and not Path(name).exists():
        source_name, _, target_name = name.partition(",")
        yield from _zip_lines(Path(source_name), Path(target_name))
        return
    for cells in read_columns(name, (0, target_column)):
        yield cells[0], cells[1]


def is_treebank(spec: str | Path) -> bool:
    """Return whether a file has trees: `.trees` or the Penn Treebank's `.mrg`, with `.xz` or `.gz` after it or not."""
    return Path(spec).name.removesuffix(".xz").removesuffix(".gz").endswith((".trees", ".mrg"))


def read_treebank(path: str | Path) -> Iterator[Tree]:
    """Yield the trees of a file, normalised (see `parse_trees`). Raises DataError naming file and line."""
    try:
        yield from parse_trees(read_lines(Path(path)))
    except TreeError as error:
        raise DataError(f"{path}, {error}") from error


def read_columns(path: Path | str, columns: Sequence[int]) -> Iterator[tuple[str, ...]]:
    """Yield the chosen columns of each line of a `.tsv`, `.tsv.xz` or `.tsv.gz` file.

    Raises:
        DataError: The file cannot be read, or a line has too few columns.
    """
    for number, line in enumerate(read_lines(Path(path)), start=1):
        cells = line.split("\t")
        if len(cells) <= max(columns):
            raise DataError(f"{path}, line {number}: {len(cells)} columns, but at least {max(columns) + 1} are needed")
        yield tuple(cells[column] for column in columns)


def _zip_lines(source: Path, target: Path) -> Iterator[tuple[str, str]]:
    sources, targets = read_lines(source), read_lines(target)
    for number, source_line in enumerate(sources, start=1):
        target_line = next(targets, None)
        if target_line is None:
            raise DataError(f"{target} ends at line {number - 1}, but {source} continues")
        yield source_line, target_line
    if next(targets, None) is not None:
        raise DataError(f"{source} ends before {target}")


def add_typos(sentence: str, rng: random.Random) -> str:
    """Return a sentence as people type it: in lower case, without final or any punctuation, or both."""
    style = rng.randrange(3)
    if style != 1:
        sentence = sentence.lower()
    if style == 0:
        return sentence
    letters = "".join(c for c in sentence if c in "'\u2019-" or not unicodedata.category(c).startswith("P"))
    return " ".join(letters.split())
