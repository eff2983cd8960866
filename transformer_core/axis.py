"""One axis of attention maps: its labels, and the words that they belong to."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from transformer_core.short_repr import ShortRepr

WORD_BOUNDARY = "\u2581"  # SentencePiece writes a space before a token as this character


@dataclass(frozen=True)
class Axis(ShortRepr):
    """One axis of a map.

    Args:
        tokens: A label for each position: tokens as SentencePiece writes them, or `<s>`, `</s>`.
        words: For each position the number of the word that it belongs to; 0 for the first, never falling,
            rising by 1 at most. A special token is a word of its own.
        special: Whether each position is `<s>` or `</s>`.
        spans: For each position its characters in the text, [begin, end), without blanks around; empty ones at special
            tokens. Tokens of one character share it. () where the text is unknown, as in other programs' maps.
    """

    tokens: tuple[str, ...]
    words: tuple[int, ...]
    special: tuple[bool, ...]
    spans: tuple[tuple[int, int], ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if not len(self.tokens) == len(self.words) == len(self.special) == len(self.spans or self.tokens):
            raise ValueError(
                f"an axis of {len(self.tokens)} tokens has {len(self.words)} word numbers, "
                f"{len(self.special)} special marks and {len(self.spans)} spans; all must be equally many"
            )
        steps = np.diff(np.asarray((-1, *self.words)))
        if self.words and not (self.words[0] == 0 and bool(np.isin(steps, (0, 1)).all())):
            raise ValueError(f"word numbers must start at 0 and rise by 0 or 1, but are {self.words}")

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def word_texts(self) -> tuple[str, ...]:
        """The text of each word, without word-boundary marks."""
        texts = [""] * (self.words[-1] + 1 if self.words else 0)
        for token, word in zip(self.tokens, self.words, strict=True):
            texts[word] += token
        return tuple(text.replace(WORD_BOUNDARY, "") for text in texts)

    def merged(self) -> Axis:
        """Return the same axis with one position for each word."""
        count = len(self.word_texts)
        special = [False] * count
        for mark, word in zip(self.special, self.words, strict=True):
            special[word] = special[word] or mark
        ends = {word: end for word, (_, end) in zip(self.words, self.spans, strict=False)}
        begins = {word: begin for word, (begin, _) in reversed([*zip(self.words, self.spans, strict=False)])}
        spans = tuple((begins[word], end) for word, end in ends.items())
        return Axis(self.word_texts, tuple(range(count)), tuple(special), spans)
