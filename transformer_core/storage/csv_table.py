"""Tables as CSV, quoted as RFC 4180 says, that no spreadsheet program misreads or runs."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

# A cell that starts with one of these, perhaps behind blanks or invisible characters, may be run as a formula by a
# spreadsheet program.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def csv_bytes(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """Return a table in UTF-8 with a byte order mark, without which Excel misreads Korean."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows(rows)
    return buffer.getvalue().encode("utf-8-sig", errors="replace")


def escape_formula(label: str) -> str:
    """Return a label that no spreadsheet program runs as a formula; an apostrophe in front, if needed, says "text"."""
    seen = next((c for c in label if unicodedata.category(c)[0] not in "ZC" or c in _FORMULA_STARTS), "")
    return f"'{label}" if label.startswith("'") or seen in _FORMULA_STARTS else label
