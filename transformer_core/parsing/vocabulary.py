"""Vocabularies of a parser: subwords on the source side, brackets and XX on the target side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from transformer_core.attention_maps import WORD_BOUNDARY
from transformer_core.parsing.sequences import WORD
from transformer_core.text.tokenizer import Tokenizer

MAX_LABELS = 1_000


class NotAParser(ValueError):
    """Model whose target vocabulary has other tokens than brackets and XX."""


@dataclass(frozen=True)
class SymbolTable:
    """Ids of a parser's symbols.

    Args:
        size: Number of ids, special ones included.
        word: Id of XX.
        opening: Label -> id of its opening bracket.
        closing: Label -> id of its closing bracket.
        eos: Id of `</s>`.
    """

    size: int
    word: int
    opening: Mapping[str, int]
    closing: Mapping[str, int]
    eos: int

    @classmethod
    def from_tokenizer(cls, tokenizer: Tokenizer) -> SymbolTable:
        """Read the symbols of the target vocabulary.

        Raises:
            NotAParser: It has other tokens than paired brackets, XX and the four special ones, or more pairs than
                MAX_LABELS.
        """
        special = set(tokenizer.special.to_dict().values())
        few = tokenizer.closed and len(tokenizer) <= len(special) + 1 + 2 * MAX_LABELS
        others = (i for i in range(len(tokenizer) if few else 0) if i not in special)
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
    """Return whether a model with this tokenizer is a parser."""
    try:
        SymbolTable.from_tokenizer(tokenizer)
    except NotAParser:
        return False
    return True


def learn_vocabularies(pairs: Callable[[], Iterable[tuple[str, str]]], source_vocab_size: int) -> Tokenizer:
    """Train the vocabularies: SentencePiece for sentences, a list for symbols.

    Args:
        pairs: Sentences with their symbols, both separated by blanks; called twice.
        source_vocab_size: Size of the vocabulary of sentences, the four special tokens included.

    Raises:
        TokenizerError: There are too few sentences for this size.
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
