"""Sentences of a file, a line each with its texts in columns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from transformer_core.cli.arguments import Options, UsageError
from transformer_core.cli.line_files import raw_lines

if TYPE_CHECKING:
    from transformer_core.translator import Translator

MAX_FILE_BYTES = 1_000_000_000
MAX_TOKENS = 256  # of a sentence


def read_sentences(
    options: Options, names: Sequence[str], translator: Translator
) -> tuple[list[tuple[int, list[str | None]]], int]:
    """Return the first lines of --data, shortest first, and the number of lines that cannot be read.

    Args:
        options: `data` and `most`.
        names: Names of the columns: sources, then as many translations, which may be missing.
        translator: The model.

    Returns:
        Numbers of lines, from 1, with their texts; and the count.

    Raises:
        UsageError: The file is too large, or no line can be read.
    """
    from transformer_core.analysis.teacher_forced_run import fits

    if Path(options.data).stat().st_size > MAX_FILE_BYTES:
        raise UsageError(f"--data: {options.data} has more than {MAX_FILE_BYTES:,} bytes")
    half = len(names) // 2
    lines: list[tuple[int, int, list[str | None]]] = []
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
        lines.append((tokens, number, texts))
        if len(lines) == options.most:
            break
    if not lines:
        raise UsageError(f"--data: {options.data} has no line that can be read")
    return [(number, texts) for _, number, texts in sorted(lines, key=lambda each: each[:2])], skipped
