"""Tables as CSV, quoted as RFC 4180 says, that no spreadsheet program misreads or runs."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

# A cell that starts with one of these, perhaps behind blanks or invisible characters, may be run as a formula by a
# spreadsheet program.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
# In a country whose numbers have a comma, such a program starts a new cell behind each semicolon.
_CELL = re.compile(r"[^;\t\r\n]*(?:\r\n?|[;\t\n]|$)")


def csv_bytes(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """Return a table in UTF-8 with a byte order mark, without which Excel misreads Korean."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows(rows)
    return buffer.getvalue().encode("utf-8-sig", errors="replace")


def escape_formula(label: str) -> str:
    """Return a label that no spreadsheet program runs as a formula, whatever separates its cells.

    An apostrophe says "text": at the start of the label and behind each semicolon, tab or line break, if a formula or
    another apostrophe follows.
    """
    return _CELL.sub(lambda cell: _escape_cell(cell[0]), label)


def _escape_cell(cell: str) -> str:
    seen = next((c for c in cell if (c != '"' and unicodedata.category(c)[0] not in "ZC") or c in _FORMULA_STARTS), "")
    return f"'{cell}" if cell.startswith("'") or seen in _FORMULA_STARTS else cell
