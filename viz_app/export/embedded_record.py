"""Read the record of a figure's file as data: origin, version, hash of the model, and the command.

Each reader knows the one form that `export` writes, and looks for the record there. It decodes no image, follows no
link, unpickles nothing, and unpacks no more than a record may have.
"""

from __future__ import annotations

import html
import json
import re
import struct
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any

from transformer_core.cli.arguments import UsageError

MAX_FILE_BYTES = 256_000_000  # the numbers of all heads of a long sentence
MAX_RECORD_BYTES = 1_000_000

_PDF_STRING = re.compile(rb"/Keywords \(((?:[^\\()]|\\.)*)\)", re.DOTALL)
_NPY = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '([<>])U(\d{1,7})', 'fortran_order': False, 'shape': \(\), \} *\n", re.DOTALL
)


def read_record(data: bytes, format: str) -> dict[str, Any]:
    """Return the record of a file.

    Args:
        data: The file; of a CSV, the JSON beside it.
        format: Its ending, such as "pdf".

    Raises:
        UsageError: It has no record, or not as `export` writes it.
    """
    try:
        text = _READERS[format](data)
        record: Any = json.loads(text) if len(text) <= MAX_RECORD_BYTES else None
        return dict(record)
    except (ValueError, TypeError, IndexError, AttributeError, RecursionError, struct.error, zlib.error) as error:
        raise UsageError(f"this {format.upper()} file has no record as `export` writes it, or it is damaged") from error


def _from_text(data: bytes, start: bytes, end: bytes) -> str:
    begin = data.index(start) + len(start)
    return data[begin : data.index(end, begin, begin + MAX_RECORD_BYTES)].decode("utf-8")


def _from_markup(data: bytes, start: bytes, end: bytes) -> str:
    return html.unescape(_from_text(data, start, end).rpartition("\n")[2])  # in SVG, below the caption


def _from_pdf(data: bytes) -> str:
    begin = data.index(b"/Keywords (")
    match = _PDF_STRING.match(data, begin, begin + 2 * MAX_RECORD_BYTES)
    text = re.sub(rb"\\(.)", rb"\1", match[1] if match else b"", flags=re.DOTALL)  # a line of JSON: no ends of lines
    return text.removeprefix(b"\xfe\xff").decode("utf-16-be" if text.startswith(b"\xfe\xff") else "ascii")


def _from_png(data: bytes) -> str:
    begin = data.index(b"Provenance\0")
    (length,) = struct.unpack_from(">I", data, begin - 8)  # of the chunk: length, kind, keyword, text
    text = data[begin + 11 : begin + min(length, MAX_RECORD_BYTES)]
    return text[4:].decode("utf-8") if data[begin - 4 : begin] == b"iTXt" else text.decode("latin-1")


def _from_gif(data: bytes) -> str:
    colors = 3 * 2 ** ((data[10] & 7) + 1)  # bytes of the table of colors, behind 13 of the header
    at, text = data.index(b"!\xfe", 13 + colors) + 2, bytearray()
    while (size := data[at]) and len(text) <= MAX_RECORD_BYTES:  # of the next block; the last one is empty
        text += data[at + 1 : at + 1 + size]
        at += 1 + size
    return text.decode("utf-8")


def _from_npz(data: bytes) -> str:
    """Return the text of the first file of the archive, which ends by itself."""
    method, name, extra = struct.unpack_from("<8xH16xHH", data)
    if not data.startswith(b"PK\3\4") or method != 8 or data[30 : 30 + name] != b"provenance.npy":
        return ""
    start, most = 30 + name + extra, 4 * MAX_RECORD_BYTES  # four bytes a character
    array = zlib.decompressobj(-zlib.MAX_WBITS).decompress(data[start : start + most], most)
    head = _NPY.match(array)
    text = array[head.end() : head.end() + 4 * int(head[2])] if head else b""
    return text.decode("utf-32-le" if head and head[1] == b"<" else "utf-32-be")


_READERS: dict[str, Callable[[bytes], str]] = {
    "pdf": _from_pdf,
    "svg": partial(_from_markup, start=b"<dc:description>", end=b"</dc:description>"),
    "png": _from_png,
    "tex": lambda data: "{" + _from_text(data, b"\n% {", b"\n"),
    "gif": _from_gif,
    "csv": lambda beside: beside.decode("utf-8"),
    "npz": _from_npz,
    "json": lambda data: _from_text(data, b'\n "provenance": ', b"\n }") + "}",  # not the numbers behind it
}
