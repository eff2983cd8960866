"""Checks a sentence before the model sees it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, Protocol

# The shipped model translates so many pieces in 2 seconds on one core; twice as many take 4.
MAX_PIECES = 256
# What has more is refused before anything else is done with it; so many characters of English are about 1,000 pieces.
MAX_CHARACTERS = 4_000

# Jamo, syllables and compatibility forms: what a Korean keyboard writes.
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]")


class EncodingLike(Protocol):
    """The part of `transformer_core.tokenizer.Encoding` that is used here."""

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Characters of the text that each piece covers, [begin, end)."""

    @property
    def unknown(self) -> tuple[bool, ...]:
        """Whether each piece stands for characters that the vocabulary lacks."""


class TokenizerLike(Protocol):
    """The part of `transformer_core.tokenizer.Tokenizer` that is used here."""

    def encode(self, text: str) -> EncodingLike:
        """Text -> pieces."""


@dataclass(frozen=True)
class Sentence:
    """A sentence as typed, and whether the model is to translate it.

    Args:
        text: The sentence with its outer and repeated white space taken away.
        status: "good", or why it is not translated.
        pieces: How many pieces it has.
        unknown: The characters that the vocabulary lacks, each once, in their order.
    """

    text: str
    status: Literal["good", "empty", "korean", "long"]
    pieces: int = 0
    unknown: tuple[str, ...] = ()


def validate_sentence(typed: str, tokenizer: TokenizerLike, limit: int = MAX_PIECES) -> Sentence:
    """Normalise white space and decide whether the model can translate a sentence.

    Korean has a status of its own because many readers write it and the models read English only.

    Args:
        typed: The text as typed.
        tokenizer: Of the model's source.
        limit: Most pieces that the model accepts, when that is less than MAX_PIECES.

    Raises:
        ValueError: The text has more than MAX_CHARACTERS, which `viz_app.state.session` lets nobody type.
    """
    if len(typed) > MAX_CHARACTERS:
        raise ValueError(f"the text has {len(typed):,} characters, but may have at most {MAX_CHARACTERS:,}")
    text = " ".join(typed.split())
    if not text:
        return Sentence(text, "empty")
    if _HANGUL.search(text):
        return Sentence(text, "korean")
    encoding = tokenizer.encode(text)
    pieces = len(encoding.spans)
    if pieces == 0:
        return Sentence(text, "empty")
    if pieces > min(limit, MAX_PIECES):
        return Sentence(text, "long", pieces)
    spans = (text[begin:end] for (begin, end), mark in zip(encoding.spans, encoding.unknown, strict=True) if mark)
    characters = dict.fromkeys(character for span in spans for character in span if not character.isspace())
    return Sentence(text, "good", pieces, tuple(characters))
