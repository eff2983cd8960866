"""A header of plain values and bytes after it, as one buffer for the browser.

Layout: ``[uint32 length of the header][header: JSON, UTF-8, padded with spaces][data]``, little-endian. The data starts
at a multiple of `ALIGNMENT`. JavaScript reads it with `common/buffer.js`.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

ALIGNMENT = 8

Part = bytes | memoryview


def join_buffer(header: Mapping[str, Any], *parts: Part) -> bytes:
    """The buffer; the parts, which may be large, are copied once.

    Raises:
        ValueError: The header holds a number that JSON cannot.
    """
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-(len(text) + 4) % ALIGNMENT)
    return b"".join((struct.pack("<I", len(text)), text, *parts))


def split_buffer(buffer: bytes) -> tuple[dict[str, Any], memoryview]:
    """The header, and the data, which shares the memory of the buffer."""
    (length,) = struct.unpack_from("<I", buffer)
    header: dict[str, Any] = json.loads(buffer[4 : 4 + length])
    return header, memoryview(buffer)[4 + length :]
