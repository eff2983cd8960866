"""Sentences of a file, a line each with its texts in columns; slices by length, regular expression or column."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_core.cli.arguments import Options, UsageError
from transformer_core.cli.line_files import raw_lines

if TYPE_CHECKING:
    from transformer_core.translator import Translator

MAX_FILE_BYTES = 1_000_000_000
MAX_TOKENS = 256  # of a sentence
MAX_SECONDS = 1.0  # of a regular expression on one text: some would take years
_CONDITION = re.compile(r"(\w+)(<=|>=|[<>=~])(.*)", re.DOTALL)
_ORDERS: dict[str, Any] = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def read_sentences(
    options: Options, names: Sequence[str], translator: Translator
) -> tuple[list[tuple[int, list[str | None]]], int]:
    """Return the first lines of --data that fit --where, shortest first, and the number of lines that cannot be read.

    Args:
        options: `data`, `where` and `most`.
        names: Names of the columns: sources, then as many translations, which may be missing.
        translator: The model.

    Returns:
        Numbers of lines, from 1, with their texts; and the count.

    Raises:
        UsageError: The file is too large, a condition cannot be read, or no line fits.
    """
    from transformer_core.analysis.teacher_forced_run import fits

    if Path(options.data).stat().st_size > MAX_FILE_BYTES:
        raise UsageError(f"--data: {options.data} has more than {MAX_FILE_BYTES:,} bytes")
    conditions, half = [condition(text, names) for text in options.where], len(names) // 2
    found: list[tuple[int, int, list[str | None]]] = []
    skipped = 0
    for number, raw in enumerate(raw_lines(options.data), start=1):
        cells = (raw or b"\xff").decode("utf-8", "replace").strip("\ufeff\r\n").split("\t")
        texts = [cell if cell.strip() else None for cell in (*cells, *[""] * len(names))[: len(names)]]
        targets = [text for text in texts[half:] if text]
        readable = "\ufffd" not in "".join(cells) and all(fits(translator, s or "", *targets) for s in texts[:half])
        tokens = max(len(translator.encode(text or "")) for text in texts[:half]) if readable else 0
        if not readable or tokens > MAX_TOKENS:
            skipped += 1
            continue
        columns = {str(place): cell for place, cell in enumerate(cells, start=1)} | dict(
            zip(names, cells, strict=False)
        )
        if all(holds({"tokens": str(tokens), **columns}) for holds in conditions):
            found.append((tokens, number, texts))
        if len(found) == options.most:
            break
    if not found:
        raise UsageError(f"--data: {options.data} has no line that can be read and fits")
    return [(number, texts) for _, number, texts in sorted(found, key=lambda each: each[:2])], skipped


def condition(text: str, names: Sequence[str]) -> Callable[[Mapping[str, str]], bool]:
    """Return a test of the columns of a line: `tokens<10`, `source~REGEX`, `3=news`.

    Raises:
        UsageError: The condition cannot be read. From the test: the regular expression takes too long.
    """
    import regex

    parts = _CONDITION.fullmatch(text)
    name, sign, value = parts.groups() if parts else ("", "", "")
    if name not in ("tokens", *names) and not name.isdecimal():
        known = f"tokens, {', '.join(names)} or the number of a column"
        raise UsageError(f"--where is {text!r}, but must be a name ({known}), one of < <= > >= = ~, and a value")
    try:
        limit, pattern = float(value) if sign in _ORDERS else 0.0, regex.compile(value if sign == "~" else "")
    except (ValueError, regex.error) as error:
        raise UsageError(f"--where is {text!r}: {error}") from error

    def holds(columns: Mapping[str, str]) -> bool:
        cell = columns.get(name, "")
        try:
            if sign == "~":
                return pattern.search(cell, timeout=MAX_SECONDS) is not None
            return bool(_ORDERS[sign](float(cell), limit)) if sign in _ORDERS else cell == value
        except TimeoutError as error:
            raise UsageError(f"--where is {text!r}, which takes too long on {cell[:40]!r}; simplify it") from error
        except ValueError:  # no number
            return False

    return holds
