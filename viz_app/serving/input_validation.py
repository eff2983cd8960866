"""Validate a sentence before the model reads it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from transformer_core.text.tokenizer import Tokenizer

# The shipped model translates this many tokens in 2 seconds on one core, and twice as many in 4.
MAX_TOKENS = 256
# A longer text is refused first of all. In English this is about 1,000 tokens.
MAX_CHARACTERS = 4_000

# Jamo, syllables and compatibility forms: the output of a Korean keyboard.
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]")


@dataclass(frozen=True)
class Sentence:
    """A sentence as typed, and whether the model can translate it.

    Args:
        text: The sentence without outer and repeated white space.
        status: "good", or the reason why it is not translated.
        tokens: Number of tokens.
        limit: Maximum of tokens.
        source: Input of the model: the text of a translator, the words of a parser joined by blanks.
        unknown: Characters that the vocabulary lacks, each once, in order.
    """

    text: str
    status: Literal["good", "empty", "korean", "long"]
    tokens: int = 0
    unknown: tuple[str, ...] = ()
    source: str = ""
    limit: int = MAX_TOKENS


def validate_sentence(
    typed: str,
    tokenizer: Tokenizer,
    limit: int = MAX_TOKENS,
    split: Callable[[str], Sequence[str]] | None = None,
    reads: str = "",
) -> Sentence:
    """Normalise white space and decide whether the model can translate a sentence.

    Korean has a status of its own because many readers write it and the shipped models read English only. A Korean word
    in an English sentence is unknown to the vocabulary, and no reason to refuse the rest.

    Args:
        typed: The text as typed.
        tokenizer: Tokenizer of the source language.
        limit: Maximum of tokens for the model, if less than MAX_TOKENS.
        split: Splits a text into a parser's words; see `visible_words`.
        reads: BCP 47 code of the source language; if empty, the vocabulary decides.

    Raises:
        ValueError: The text has more than MAX_CHARACTERS, which `viz_app.state.session` refuses earlier.
    """
    if len(typed) > MAX_CHARACTERS:
        raise ValueError(f"the text has {len(typed):,} characters, but may have at most {MAX_CHARACTERS:,}")
    text = " ".join(typed.split())
    if not text:
        return Sentence(text, "empty")
    korean = 2 * len(_HANGUL.findall(text)) > len(text.replace(" ", "")) and reads.split("-")[0].lower() != "ko"
    if korean and reads:
        return Sentence(text, "korean")
    source = " ".join(split(text)) if split else text
    encoding = tokenizer.encode(source)
    tokens, limit = len(encoding.spans), min(limit, MAX_TOKENS)
    if tokens == 0:
        return Sentence(text, "empty")
    if tokens > limit:
        return Sentence(text, "long", tokens, source=source, limit=limit)
    unknown = encoding.unknown_characters(source)
    if korean and any(map(_HANGUL.search, unknown)):
        return Sentence(text, "korean")
    return Sentence(text, "good", tokens, unknown, source, limit)


def visible_words(text: str) -> tuple[str, ...]:
    """Return the words of a text as a parser reads them, without words of invisible characters.

    SentencePiece makes no token of such a word, for example a zero-width space: the leaf would be invisible.
    """
    from transformer_core.parsing.trees import unescaped
    from transformer_core.parsing.words import split_words  # with NLTK, which only a parser needs

    return tuple(unescaped(word) for word in split_words(text) if not all(map(_is_invisible, word)))


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf")
