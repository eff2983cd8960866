"""Fields of a Protocol Buffers message, such as a SentencePiece model.

SentencePiece's own module for it needs the protobuf of its build, and cannot be loaded beside that of transformers.
"""

from __future__ import annotations

from collections.abc import Iterator

MAX_FIELDS = 550_000  # of a message; a vocabulary has one for each of its tokens


class MessageTooLargeError(ValueError):
    """A message that takes too much time or memory to read, or to use."""


def message_fields(message: bytes, *numbers: int) -> Iterator[tuple[int, bytes | int]]:
    """Yield number and value of each field that has bytes or a whole number; ends where the message makes no sense.

    Args:
        message: In the wire format.
        numbers: Of the fields to yield; none means all. Others are skipped in a fraction of the time.

    Raises:
        MessageTooLargeError: It has more than MAX_FIELDS fields.
    """
    at = 0
    for _ in range(MAX_FIELDS):
        if at >= len(message):
            return
        key, at = (message[at], at + 1) if message[at] < 0x80 else _varint(message, at)  # most are one byte
        number, kind = (key & 0xFFFF_FFFF) >> 3, key & 7  # more digits than that are dropped
        if kind == 2:
            is_short = at < len(message) and message[at] < 0x80
            length, start = (message[at], at + 1) if is_short else _varint(message, at)
            at = start + length
            if not numbers or number in numbers:
                yield number, message[start:at]
        elif kind == 0:
            value, at = _varint(message, at)
            if not numbers or number in numbers:
                yield number, value
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        elif kind not in (3, 4):  # the marks of a group, whose fields follow
            return
    raise MessageTooLargeError(f"has more than {MAX_FIELDS:,} fields")


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """Return a number in groups of seven bits, the lowest first, and the place behind it."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(message):
            break
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
    return value, at
