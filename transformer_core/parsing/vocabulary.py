"""The two vocabularies of a parser: words in tokens on one side, brackets and XX on the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from transformer_core.attention_maps import WORD_BOUNDARY
from transformer_core.parsing.sequences import WORD
from transformer_core.text.tokenizer import Tokenizer

MAX_LABELS = 1_000


class NotAParser(ValueError):
    """A model whose vocabulary does not consist of brackets and XX."""


@dataclass(frozen=True)
class SymbolTable:
    """The symbols of a parser by their ids.

    Args:
        size: Ids in all, special ones included.
        word: The id of XX.
        opening: The id of the opening bracket of each label.
        closing: The id of the closing bracket of each label.
        eos: The id of `</s>`.
    """

    size: int
    word: int
    opening: Mapping[str, int]
    closing: Mapping[str, int]
    eos: int

    @classmethod
    def from_tokenizer(cls, tokenizer: Tokenizer) -> SymbolTable:
        """The symbols of the target's vocabulary.

        Raises:
            NotAParser: It has other tokens than brackets in pairs, XX and the four special ones, or more pairs
                than MAX_LABELS.
        """
        special = set(tokenizer.special.to_dict().values())
        few = tokenizer.closed and len(tokenizer) <= len(special) + 1 + 2 * MAX_LABELS
        others = (i for i in range(len(tokenizer)) if few and i not in special)
        ids = {tokenizer.token(i).removeprefix(WORD_BOUNDARY): i for i in others}
        opening = {symbol[1:]: i for symbol, i in ids.items() if symbol.startswith("(")}
        closing = {symbol[1:]: i for symbol, i in ids.items() if symbol.startswith(")")}
        paired = len(opening) > 0 and opening.keys() == closing.keys() and len(opening) + len(closing) + 1 == len(ids)
        if not paired or WORD not in ids:
            raise NotAParser(
                f"this model is no parser: its vocabulary must hold only opening and closing brackets and {WORD}; "
                "`prepare --task parsing` makes one"
            )
        return cls(len(tokenizer), ids[WORD], opening, closing, tokenizer.special.eos)


def generates_trees(tokenizer: Tokenizer) -> bool:
    """Whether a model with this tokenizer is a parser."""
    try:
        SymbolTable.from_tokenizer(tokenizer)
    except NotAParser:
        return False
    return True


def learn_vocabularies(pairs: Callable[[], Iterable[tuple[str, str]]], source_vocab_size: int) -> Tokenizer:
    """Vocabularies of sentences (SentencePiece) and of the symbols that occur.

    Args:
        pairs: The sentences with their symbols, both with blanks between; called twice.
        source_vocab_size: Tokens of sentences, the four special ones included.

    Raises:
        TokenizerError: The sentences are too few for so large a vocabulary.
        ValueError: There are no symbols, or more than MAX_LABELS labels.
    """
    labels: set[str] = set()
    for _, symbols in pairs():
        labels.update(symbol[1:] for symbol in symbols.split() if symbol != WORD)
        if len(labels) > MAX_LABELS:
            raise ValueError(f"the trees have more than {MAX_LABELS:,} different labels")
    if not labels:
        raise ValueError("there are no trees to learn from")
    target = Tokenizer.from_symbols([WORD, *(bracket + label for label in sorted(labels) for bracket in "()")])
    return Tokenizer(target.model, Tokenizer.train((words for words, _ in pairs()), source_vocab_size).model)
