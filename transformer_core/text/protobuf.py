"""Fields of a Protocol Buffers message, such as a SentencePiece model."""

from __future__ import annotations

from collections.abc import Iterator


def message_parts(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and bytes of each field that has bytes; ends where the message makes no sense."""
    for number, value in message_fields(message):
        if isinstance(value, bytes):
            yield number, value


def message_fields(message: bytes) -> Iterator[tuple[int, bytes | int]]:
    """Yield number and value of each field that has bytes or a whole number; ends where the message makes no sense."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, kind = (key & 0xFFFF_FFFF) >> 3, key & 7  # more digits than that are dropped
        if kind == 2:
            length, at = _varint(message, at)
            yield number, message[at : at + length]
            at += length
        elif kind == 0:
            value, at = _varint(message, at)
            yield number, value
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        elif kind not in (3, 4):  # the marks of a group, whose fields follow
            return


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
