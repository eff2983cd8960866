"""A header of plain values and bytes after it, as one buffer for the browser.

Layout: ``[uint32 length of the header][header: JSON, UTF-8, padded with spaces][data]``, little-endian. The data starts
at a multiple of `ALIGNMENT`. JavaScript reads it with `common/buffer.js`.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any, TypedDict

from transformer_core.attention_maps import Axis

ALIGNMENT = 8

Part = bytes | memoryview


class Constant(dict[str, Any]):
    """Plain values that never change, so that what is made of them can be kept: a key by identity."""

    __hash__ = object.__hash__  # type: ignore[assignment]


class PlainAxis(TypedDict):
    """Labels of an axis: tokens, the number of the word of each, and whether it is special."""

    tokens: list[str]
    words: list[int]
    special: list[bool]


def join_buffer(header: Mapping[str, Any], *parts: Part) -> bytes:
    """Return the buffer; the parts, which may be large, are copied once.

    Raises:
        ValueError: The header holds a number that JSON cannot.
    """
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-(len(text) + 4) % ALIGNMENT)
    return b"".join((struct.pack("<I", len(text)), text, *parts))


def plain_axis(axis: Axis) -> PlainAxis:
    """Return the labels of an axis as plain values for a header."""
    return {
        "tokens": list(axis.tokens),
        "words": [int(word) for word in axis.words],
        "special": [bool(mark) for mark in axis.special],
    }


def split_buffer(buffer: bytes) -> tuple[dict[str, Any], memoryview]:
    """Return the header and the data, which shares the memory of the buffer."""
    (length,) = struct.unpack_from("<I", buffer)
    header: dict[str, Any] = json.loads(buffer[4 : 4 + length])
    return header, memoryview(buffer)[4 + length :]
