"""Byte-pair encoding step by step (Section 5.1): merges of a sentence in the order of the vocabulary.

The vocabulary is the list of merges that its training found: the tokens of more than one letter, the most frequent pair
first. Encoding starts with letters and applies, again and again, the first merge of that list that fits anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from transformer_core.attention_maps import WORD_BOUNDARY
from transformer_core.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class Merge:
    """Merge of two neighbours.

    Args:
        begin: First letter of the left one, counted over the sentence.
        middle: First letter of the right one.
        end: The letter after both.
        rank: Number of the merge in the vocabulary, from 1.
    """

    begin: int
    middle: int
    end: int
    rank: int


def merge_ranks(tokenizer: Tokenizer) -> dict[str, int]:
    """Number the merges of a vocabulary from 1, by the token that they make."""
    return _ranks(tokenizer.model)


@lru_cache(maxsize=4)
def _ranks(model: bytes) -> dict[str, int]:
    tokenizer = Tokenizer(model)
    special = {tokenizer.special.pad, tokenizer.special.bos, tokenizer.special.eos, tokenizer.special.unk}
    tokens = (tokenizer.token(number) for number in range(len(tokenizer)) if number not in special)
    return {token: rank for rank, token in enumerate((token for token in tokens if len(token) > 1), start=1)}


def merges(letters: str, ranks: dict[str, int]) -> tuple[Merge, ...]:
    """Return all merges from letters to tokens, in order.

    Args:
        letters: A sentence as the tokenizer sees it, with its marks of word boundaries.
        ranks: From `ranks_of`.
    """
    starts = list(range(len(letters) + 1))  # where each symbol begins, and the end
    done: list[Merge] = []
    while True:
        fits = [
            (ranks[pair], place)
            for place in range(len(starts) - 2)
            if (pair := letters[starts[place] : starts[place + 2]]) in ranks
        ]
        if not fits:
            return tuple(done)
        rank, place = min(fits)  # of equal ones the leftmost
        done.append(Merge(starts[place], starts[place + 1], starts[place + 2], rank))
        del starts[place + 1]


def tokens(letters: str, done: Sequence[Merge]) -> tuple[str, ...]:
    """Return the tokens after some merges."""
    joints = {merge.middle for merge in done}
    starts = [place for place in range(len(letters)) if place not in joints]
    return tuple(letters[begin:end] for begin, end in zip(starts, [*starts[1:], len(letters)], strict=True))


def misspell(word: str) -> str:
    """Swap two neighbouring letters near the middle of a word; unchanged where all are the same."""
    middle = len(word) // 2
    for place in sorted(range(len(word) - 1), key=lambda place: abs(place + 1 - middle)):
        if word[place] != word[place + 1]:
            return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    return word


def most_fragmented_word(words: Sequence[str], tokenizer: Tokenizer) -> tuple[str, str]:
    """Find the word whose misspelling adds most tokens, and that misspelling."""
    pairs = [(word, misspell(word)) for word in words]
    return max(pairs, key=lambda pair: len(tokenizer.encode(pair[1])) - len(tokenizer.encode(pair[0])))


def normalised_letters(tokenizer: Tokenizer, text: str) -> str:
    """Normalise a text as the tokenizer does, with a mark for each space and before the first word."""
    letters = "".join(tokenizer.encode(text).tokens)
    return letters if letters.startswith(WORD_BOUNDARY) else WORD_BOUNDARY + letters
