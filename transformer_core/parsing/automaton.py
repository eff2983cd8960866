"""Automaton of the allowed next symbols, so that a search generates only trees over the words of its sentence.

Every reachable state can be completed within the length limit. While words are left, a bracket may open, or a word may
follow inside a bracket. Brackets close in order, never empty, and the outermost one last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from transformer_core.parsing.vocabulary import SymbolTable
from transformer_core.text.tokenizer import Tokenizer, word_numbers

MAX_DEPTH = 50  # nested constituents; at most 33 in the English treebanks used here
MAX_OPENS = 12  # opening brackets in a row, which bounds unary chains; at most 9 there


class State(NamedTuple):
    """State between two symbols.

    Args:
        labels: Ids of the pending closing brackets, the innermost last.
        words_left: Number of XX that must follow.
        opens: Opening brackets since the last other symbol.
        room: Number of symbols that may follow, `</s>` included.
    """

    labels: tuple[int, ...]
    words_left: int
    opens: int
    room: int


class _Choices(NamedTuple):
    """Allowed kinds of symbols."""

    may_open: bool
    may_read: bool
    closing: int  # id of the allowed closing bracket; -1 for none
    may_end: bool


class BracketAutomaton:
    """`Constraint` of a parser; `allowed_ids` is its readable twin.

    Args:
        symbols: Symbols of the parser.
        words: Number of words of each sentence of the batch, at least one.
        max_depth: Largest number of nested constituents.
        max_opens: Largest number of opening brackets in a row.
    """

    def __init__(
        self, symbols: SymbolTable, words: Sequence[int], *, max_depth: int = MAX_DEPTH, max_opens: int = MAX_OPENS
    ) -> None:
        self.symbols, self.words = symbols, words
        self.max_depth, self.max_opens = max_depth, max_opens
        self._closing_of = {symbols.opening[label]: symbols.closing[label] for label in symbols.opening}
        self._masks: dict[_Choices, Tensor] = {}

    @classmethod
    def from_sources(cls, tokenizer: Tokenizer, sources: Sequence[Sequence[int]]) -> BracketAutomaton:
        """Build the automaton of sentences given as ids; words are counted in the tokens.

        Normalisation may turn one word into two, or none: a lone accent, for instance.

        Args:
            tokenizer: Tokenizer of the parser.
            sources: Ids of each sentence without `</s>`, at least one.

        Raises:
            NotAParser: The model generates something else.
        """
        tokens = map(tokenizer.source.tokens, sources)
        words = [word_numbers(each, at_blanks=True)[-1] + 1 for each in tokens]
        return cls(SymbolTable.from_tokenizer(tokenizer), words)

    def start(self, sentence: int, limit: int) -> State:
        """Return the state before the first symbol.

        Raises:
            ValueError: The sentence has no words, or the limit is too small for any tree.
        """
        words = self.words[sentence]
        if not 1 <= words <= limit - least_symbols(0):
            raise ValueError(f"a tree over {words} words cannot have {limit} symbols at most")
        return State((), words, 0, limit)

    def advance(self, state: State, token: int) -> State:
        """Return the state after one more symbol."""
        labels, words_left, opens, room = state
        if token in self._closing_of:
            return State((*labels, self._closing_of[token]), words_left, opens + 1, room - 1)
        if token == self.symbols.word:
            return State(labels, words_left - 1, 0, room - 1)
        return State(labels[:-1], words_left, 0, room - 1)

    def allowed(self, state: State) -> Tensor:
        """Return (V,), True for each allowed symbol."""
        choices = self._choices(state)
        if choices not in self._masks:
            mask = torch.zeros(self.symbols.size, dtype=torch.bool)
            mask[list(self._ids(choices))] = True
            self._masks[choices] = mask
        return self._masks[choices]

    def allowed_ids(self, state: State) -> set[int]:
        """Return the ids of the allowed symbols: the readable twin of `allowed`."""
        return set(self._ids(self._choices(state)))

    def _choices(self, state: State) -> _Choices:
        labels, words_left, opens, room = state
        depth = len(labels)
        return _Choices(
            may_open=words_left > 0
            and depth < self.max_depth
            and opens < self.max_opens
            # This bracket, all words, all closing brackets, and </s> must fit.
            and 1 + words_left + depth + 1 + 1 <= room,
            may_read=words_left > 0 and depth > 0,
            closing=labels[-1] if depth and not opens and (depth > 1 or not words_left) else -1,
            may_end=not depth and not words_left,
        )

    def _ids(self, choices: _Choices) -> Iterator[int]:
        if choices.may_open:
            yield from self._closing_of
        if choices.may_read:
            yield self.symbols.word
        if choices.closing >= 0:
            yield choices.closing
        if choices.may_end:
            yield self.symbols.eos


def least_symbols(words: int) -> int:
    """Return the length of the smallest tree over a number of words: they, two brackets and `</s>`."""
    return words + 3
