"""Read lines as raw bytes; they may be invalid UTF-8."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

MAX_LINE_BYTES = 1_000_000
TOO_LONG = f"it has more than {MAX_LINE_BYTES:,} bytes"

log = logging.getLogger(__name__)


def raw_lines(path: str | None) -> Iterator[bytes | None]:
    """Yield the lines of a file, or of standard input, as `short_lines` does."""
    if path is None:
        yield from short_lines(sys.stdin.buffer)
        return
    with Path(path).open("rb") as file:
        yield from short_lines(file)


def short_lines(file: BinaryIO, most_bytes: int = MAX_LINE_BYTES) -> Iterator[bytes | None]:
    """Yield the lines of a file, with None for a longer line, which is never in memory as a whole."""
    while line := file.readline(most_bytes + 1):
        if len(line) <= most_bytes or line.endswith(b"\n"):
            yield line
            continue
        while (more := file.readline(most_bytes + 1)) and not more.endswith(b"\n"):
            pass
        yield None


def line_text(number: int, raw: bytes) -> str:
    """Decode a line without its line feed; invalid UTF-8 becomes U+FFFD."""
    data = raw.removesuffix(b"\n").removesuffix(b"\r")
    if number == 1:
        data = data.removeprefix(b"\xef\xbb\xbf")  # the byte order mark that some editors of Windows write
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        log.warning("line %d: not valid UTF-8; invalid bytes became U+FFFD", number)
        return data.decode("utf-8", "replace")
