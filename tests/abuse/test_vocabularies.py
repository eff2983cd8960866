"""SentencePiece models that would make gigabytes of a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.abuse.target import within
from transformer_core.text.segmenters import SegmenterError, SentencePieceSegmenter
from transformer_core.text.tokenizer import Tokenizer, TokenizerError


def rewritten(field: int, inner: int, data: bytes) -> bytes:
    """The field of a message in another one, as Protocol Buffers write it."""
    return tagged(field, tagged(inner, data))


def tagged(field: int, data: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(data)) + data


def varint(number: int) -> bytes:
    return bytes([number & 0x7F | 0x80]) + varint(number >> 7) if number > 0x7F else bytes([number])


@pytest.mark.parametrize("specification", [3, 5])
def test_a_vocabulary_makes_no_long_text_of_a_character(random_checkpoint: Path, specification: int) -> None:
    """A message that is appended is merged into the first one: normalizer_spec or denormalizer_spec."""
    model = Tokenizer.load(random_checkpoint / "tokenizer.model").model
    table = (4).to_bytes(4, "little") + bytes(4) + b"z" * 1_001 + b"\0"
    with pytest.raises(TokenizerError, match="writes 1,001 bytes for one character, but at most 1,000"):
        Tokenizer(model + rewritten(specification, 2, table))


def test_nor_of_one_that_it_does_not_know(random_checkpoint: Path) -> None:
    model = Tokenizer.load(random_checkpoint / "tokenizer.model").model
    assert Tokenizer(model + rewritten(2, 44, b"u" * 1_000)).decode([3, 3]) == "u" * 2_000
    with pytest.raises(TokenizerError, match="writes 1,001 bytes"):
        Tokenizer(model + rewritten(2, 44, b"u" * 1_001))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (b"\x0a\x00" * 600_000, "more than 550,000 fields"),
        (tagged(4, b"\x0a\x00" * 600_000), "more than 550,000 fields"),
        (b"\x9b\x06" * 600_000, "more than 550,000 fields"),
        (b"\x1a\x00" * 8, "more than one specification"),
    ],
    ids=["tokens", "self-tests", "groups", "specifications"],
)
def test_nor_takes_time_for_millions_of_empty_fields(random_checkpoint: Path, more: bytes, said: str) -> None:
    """50 MB of them kept the reader busy for ten seconds, and took a gigabyte."""
    model = Tokenizer.load(random_checkpoint / "tokenizer.model").model
    with within(), pytest.raises(TokenizerError, match=said):
        Tokenizer(model + more)


def test_a_model_without_tokens() -> None:
    with pytest.raises(SegmenterError, match="has no tokens"):
        SentencePieceSegmenter(b"")
