"""Segmenters of converted models: text to tokens and back, before tokens have ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import sentencepiece

from transformer_core.axis import WORD_BOUNDARY
from transformer_core.text.length_limits import check_expansion
from transformer_core.text.protobuf import MessageTooLargeError

UNKNOWN = " \u2047 "  # what SentencePiece writes for `<unk>`


class SegmenterError(ValueError):
    """A file that is no model of tokens."""


@dataclass(frozen=True)
class Segmentation:
    """A text in tokens.

    Args:
        tokens: As the vocabulary lists them.
        spans: For each token the characters of the text that it covers, [begin, end).
    """

    tokens: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]


class Segmenter(Protocol):
    """Cuts text into tokens and joins tokens to text."""

    @property
    def model(self) -> bytes:
        """The file that it was read from."""

    def cut(self, text: str) -> Segmentation:
        """Text -> tokens."""

    def join(self, tokens: Sequence[str]) -> str:
        """Tokens -> text."""

    def shown(self, token: str) -> str:
        """Return a token as a reader sees it, with the mark of a word's beginning."""


class SentencePieceSegmenter:
    """A SentencePiece model of any kind; its own ids are of no account.

    Args:
        model: The bytes of a `.model` or `.spm` file.

    Raises:
        SegmenterError: They are not such a model.
    """

    def __init__(self, model: bytes) -> None:
        self.model = model
        try:
            check_expansion(model)
            self._processor = sentencepiece.SentencePieceProcessor(model_proto=model)
            self.tokens: tuple[str, ...] = tuple(self._processor.id_to_piece(list(range(len(self._processor)))))
        except (RuntimeError, TypeError, UnicodeDecodeError) as error:
            raise SegmenterError("not a valid SentencePiece model") from error
        except MessageTooLargeError as error:
            raise SegmenterError(str(error)) from error
        if not self.tokens:
            raise SegmenterError("has no tokens")

    def cut(self, text: str) -> Segmentation:
        """Text -> tokens; characters that the model lacks keep their own text as a token."""
        mapping = self._processor.encode(text, return_type="offset_mapping")
        return Segmentation(tuple(mapping["pieces"]), tuple(mapping["offsets"]))

    def join(self, tokens: Sequence[str]) -> str:
        """Tokens -> text; tokens that the model lacks, as of the other language, are their own text."""
        text: str = self._processor.decode_pieces(list(tokens))
        return text.replace(WORD_BOUNDARY, " ").strip()

    def shown(self, token: str) -> str:
        """Return the token itself."""
        return token
