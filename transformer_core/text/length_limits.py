"""Limit on the text that a SentencePiece model may make of a character, checked in its bytes.

A model holds a table of what characters are normalised to, and a text for what it does not know. Megabytes there would
make gigabytes of a sentence. The fields follow sentencepiece_model.proto, as Protocol Buffers write them.
"""

from __future__ import annotations

from collections.abc import Iterator

from transformer_core.text.protobuf import MessageTooLargeError, message_fields

MAX_EXPANSION = 1_000  # bytes for one character; NFKC has 33 at most

_TRAINER, _NORMALIZER, _SELF_TEST, _DENORMALIZER = 2, 3, 4, 5  # of ModelProto
_MAX_PARTS = 8  # of these; a model has each once
_UNKNOWN_SURFACE = 44  # of TrainerSpec
_CHARACTERS_MAP = 2  # of NormalizerSpec: the bytes of a trie after their number, then all texts, each with a null


def check_expansion(model: bytes) -> None:
    """Raise MessageTooLargeError for a model that writes more than MAX_EXPANSION bytes for one character.

    The same for one with too many fields. Damage is left to SentencePiece.
    """
    for count, (number, part) in enumerate(_parts(model, _TRAINER, _NORMALIZER, _SELF_TEST, _DENORMALIZER)):
        if count == _MAX_PARTS:
            raise MessageTooLargeError("has more than one specification")
        if number == _TRAINER:
            texts = [text for _, text in _parts(part, _UNKNOWN_SURFACE)]
        else:
            texts = [text for _, table in _parts(part, _CHARACTERS_MAP) for text in _texts(table)]
        if (longest := max(map(len, texts), default=0)) > MAX_EXPANSION:
            raise MessageTooLargeError(
                f"writes {longest:,} bytes for one character, but at most {MAX_EXPANSION:,} are allowed"
            )


def _parts(message: bytes, *numbers: int) -> Iterator[tuple[int, bytes]]:
    return ((number, part) for number, part in message_fields(message, *numbers) if isinstance(part, bytes))


def _texts(table: bytes) -> list[bytes]:
    return table[4 + int.from_bytes(table[:4], "little") :].split(b"\0")
