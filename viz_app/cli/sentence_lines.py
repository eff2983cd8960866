"""Sentences of a file, a line each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from transformer_core.cli.line_files import TOO_LONG, raw_lines

EMPTY = "empty"


@dataclass(frozen=True)
class SentenceLine:
    """A line of a file of sentences: its number from 1, and its text or why it has none."""

    number: int
    text: str
    problem: str = ""


def read_lines(path: Path) -> Iterator[SentenceLine]:
    """Read the lines of a file, each with its number and, where it is no sentence, the reason."""
    for number, raw in enumerate(raw_lines(str(path)), start=1):
        if raw is None:
            yield SentenceLine(number, "", TOO_LONG)
            continue
        raw = raw.removesuffix(b"\n").removesuffix(b"\r")
        try:
            text = (raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw).decode("utf-8")
        except UnicodeDecodeError:
            yield SentenceLine(number, raw.decode("utf-8", "replace"), "not UTF-8")
            continue
        if "\0" in text:
            yield SentenceLine(number, text, "holds a NUL character")
        else:
            yield SentenceLine(number, text, "" if text.strip() else EMPTY)
