"""Vocabulary of a checkpoint for other programs: tokens by id, and SentencePiece models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from transformer_core.config import SpecialIds
from transformer_core.model_export.refusals import ExportError
from transformer_core.text.tokenizer import Tokenizer
from transformer_core.text.vocab_json_tokenizer import ListedTokenizer
from transformer_core.text.vocabulary import TARGET_LANGUAGE, unused


@dataclass(frozen=True, kw_only=True)
class TokenLists:
    """Vocabulary of both sides.

    Args:
        source: Source tokens by id.
        target: Target tokens by id; the same list for a shared vocabulary.
        special: Ids of the special tokens.
        source_model: SentencePiece model of sources.
        target_model: SentencePiece model of translations.
        notes: Differences from the checkpoint, in words.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    special: SpecialIds
    source_model: bytes
    target_model: bytes
    notes: tuple[str, ...]

    @property
    def separate(self) -> bool:
        """Whether the two sides have different lists."""
        return self.source != self.target

    def special_token(self, name: str) -> str:
        """Return the text of `pad`, `bos`, `eos` or `unk`. Raises ExportError if the two lists disagree."""
        number: int = getattr(self.special, name)
        if self.source[number] != self.target[number]:
            raise ExportError(
                f"token {number} ({name}) is {self.source[number]!r} in sources and {self.target[number]!r} in "
                "translations, but other programs need one name for both"
            )
        return self.target[number]


def token_lists(program: str, tokenizer: Tokenizer) -> TokenLists:
    """Return the vocabulary of a checkpoint.

    Raises:
        ExportError: It does not use SentencePiece, or texts begin with tokens that `program` cannot add.
    """
    notes = _notes(program, tokenizer)
    if tokenizer.special.forced_bos >= 0:
        raise ExportError(f"translations begin with a token of their language, which {program} cannot add by itself")
    return TokenLists(
        source=tokenizer.source.tokens(range(len(tokenizer.source))),
        target=tokenizer.tokens(range(len(tokenizer))),
        special=tokenizer.special,
        source_model=tokenizer.source.model,
        target_model=tokenizer.model,
        notes=notes,
    )


def _notes(program: str, tokenizer: Tokenizer) -> tuple[str, ...]:
    if not isinstance(tokenizer, ListedTokenizer):
        return ()
    vocabulary = tokenizer.vocabulary
    if vocabulary.scheme != "sentencepiece":
        raise ExportError(f"text is cut by the scheme {vocabulary.scheme!r}, but {program} supports only SentencePiece")
    marked = vocabulary.source_prefix == TARGET_LANGUAGE and vocabulary.marks
    if vocabulary.target_prefix or (vocabulary.source_prefix and not marked):
        raise ExportError(f"texts begin with the token of a language, which {program} cannot add by itself")
    if not vocabulary.languages:
        return ()
    language = vocabulary.target_language or next(iter(vocabulary.languages))
    return (f"each source must begin with its target language, such as {vocabulary.languages[language]}",)


def write_segmenters(lists: TokenLists, folder: Path) -> None:
    """Write the two SentencePiece models under Marian's file names."""
    (folder / "source.spm").write_bytes(lists.source_model)
    (folder / "target.spm").write_bytes(lists.target_model)


def ids_of(tokens: tuple[str, ...]) -> dict[str, int]:
    """Return token -> id, without unused ids."""
    return {token: number for number, token in enumerate(tokens) if token != unused(number)}
