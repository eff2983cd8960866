"""What can be said about a sentence before the model sees it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, Protocol

# The shipped model translates so many pieces in 2 seconds on one core; twice as many take 4.
MAX_PIECES = 256

# Jamo, syllables and compatibility forms: what a Korean keyboard writes.
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]")


class Encodes(Protocol):
    """What is needed of an encoded text: see `transformer_core.tokenizer.Encoding`."""

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Characters of the text that each piece covers, [begin, end)."""

    @property
    def unknown(self) -> tuple[bool, ...]:
        """Whether each piece stands for characters that the vocabulary lacks."""


class Tokenizes(Protocol):
    """What is needed of a `transformer_core.tokenizer.Tokenizer`."""

    def encode(self, text: str) -> Encodes:
        """Text -> pieces."""


@dataclass(frozen=True)
class Sentence:
    """A sentence as typed, and whether the model is to translate it.

    Args:
        text: The sentence with its outer and repeated white space taken away.
        verdict: "good", or why it is not translated.
        pieces: How many pieces it has.
        unknown: The characters that the vocabulary lacks, each once, in their order.
    """

    text: str
    verdict: Literal["good", "empty", "korean", "long"]
    pieces: int = 0
    unknown: tuple[str, ...] = ()


def examine(typed: str, tokenizer: Tokenizes, limit: int = MAX_PIECES) -> Sentence:
    """Judge a sentence. Korean is told apart because many readers write it and the model reads English only.

    Args:
        typed: What somebody typed.
        tokenizer: Of the model's source.
        limit: Pieces that the model accepts, where these are less than the page does.
    """
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
