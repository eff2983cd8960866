"""Tokens and positions as options name them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from transformer_core.cli.arguments import UsageError
from transformer_core.text.tokenizer import token_id

if TYPE_CHECKING:
    from transformer_core.translator import Translator


def from_0(option: str, number: int, most: int) -> int:
    """Return a number of the command line, from 1, as an index. Raises UsageError for one out of range."""
    if not 1 <= number <= most:
        raise UsageError(f"{option} is {number}, but must be from 1 to {most}")
    return number - 1


def token_ids(translator: Translator, tokens: Sequence[str] | None, option: str = "--tokens") -> list[int]:
    """Return the ids of tokens, with or without the mark of a word's beginning. Raises UsageError for another text."""
    try:
        return [token_id(translator.tokenizer, token) for token in tokens or ()]
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from error
