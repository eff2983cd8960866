"""Tokens and positions as options name them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from transformer_core.attention_maps import WORD_BOUNDARY
from transformer_core.cli.arguments import UsageError

if TYPE_CHECKING:
    from transformer_core.translator import Translator


def from_0(option: str, number: int, most: int) -> int:
    """Return a number of the command line, from 1, as an index. Raises UsageError for one out of range."""
    if not 1 <= number <= most:
        raise UsageError(f"{option} is {number}, but must be from 1 to {most}")
    return number - 1


def token_ids(translator: Translator, tokens: Sequence[str] | None) -> list[int]:
    """Return the ids of tokens, with or without the mark of a word's beginning. Raises UsageError for another text."""
    tokenizer = translator.tokenizer
    known = {tokenizer.token(number): number for number in range(len(tokenizer))} if tokens else {}
    ids = [known.get(WORD_BOUNDARY + token, known.get(token)) for token in tokens or ()]
    for token, number in zip(tokens or (), ids, strict=True):
        if number is None:
            raise UsageError(f"--tokens has {token!r}, which is no token of this model; a word may be several")
    return [number for number in ids if number is not None]
