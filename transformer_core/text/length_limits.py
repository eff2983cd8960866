"""Limit on the text that a SentencePiece model may make of a character, checked in its bytes.

A model holds a table of what characters are normalised to, and a text for what it does not know. Megabytes there would
make gigabytes of a sentence. The fields follow sentencepiece_model.proto, as Protocol Buffers write them.
"""

from __future__ import annotations

from collections.abc import Iterator

MAX_EXPANSION = 1_000  # bytes for one character; NFKC has 33 at most

_TRAINER, _NORMALIZER, _DENORMALIZER = 2, 3, 5  # of ModelProto
_UNKNOWN_SURFACE = 44  # of TrainerSpec
_CHARACTERS_MAP = 2  # of NormalizerSpec: the bytes of a trie after their number, then all texts, each with a null


class NormalizerExpansionError(ValueError):
    """A model that would make a long text of a character."""


def check_expansion(model: bytes) -> None:
    """Raise NormalizerExpansionError for a model that writes more than MAX_EXPANSION bytes for one character.

    Damage is left to SentencePiece.
    """
    for number, part in _fields(model):
        if number == _TRAINER:
            texts = [text for inner, text in _fields(part) if inner == _UNKNOWN_SURFACE]
        elif number in (_NORMALIZER, _DENORMALIZER):
            maps = [table for inner, table in _fields(part) if inner == _CHARACTERS_MAP]
            texts = [text for table in maps for text in _texts(table)]
        else:
            continue
        if (longest := max(map(len, texts), default=0)) > MAX_EXPANSION:
            raise NormalizerExpansionError(
                f"writes {longest:,} bytes for one character, but at most {MAX_EXPANSION:,} are allowed"
            )


def _texts(table: bytes) -> list[bytes]:
    return table[4 + int.from_bytes(table[:4], "little") :].split(b"\0")


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and bytes of each field that has bytes; ends where the message makes no sense."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, kind = (key & 0xFFFF_FFFF) >> 3, key & 7  # more digits than that are dropped
        if kind == 2:
            length, at = _varint(message, at)
            yield number, message[at : at + length]
            at += length
        elif kind == 0:
            _, at = _varint(message, at)
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
