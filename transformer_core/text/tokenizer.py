"""Text to tokens and back: SentencePiece BPE with one vocabulary for both languages (Section 5.1), or one for each.

Text is normalised to NFKC. A character that the vocabulary lacks becomes `<unk>`, but keeps its own text as the token,
so that a reader can see what the model cannot.
"""

from __future__ import annotations

import hashlib
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sentencepiece

from transformer_core.axis import WORD_BOUNDARY, Axis
from transformer_core.config import SpecialIds
from transformer_core.storage.files import (
    TOKENIZER_FILE,
    VOCABULARY_FILE,
    CheckpointError,
    atomic_write_bytes,
    problem_of,
    read_regular,
)
from transformer_core.text.length_limits import check_expansion
from transformer_core.text.protobuf import MessageTooLargeError

LONE_SURROGATE = re.compile("[\ud800-\udfff]")  # no text in UTF-8, which SentencePiece reads
BOS_TOKEN, EOS_TOKEN = "<s>", "</s>"
MAX_BYTES = 25_000_000  # of a file: NLLB-200's 256,000 tokens have 5 MB
# Punctuation that joins a word instead of ending it: isn't, well-known.
_WORD_INTERNAL = frozenset("'\u2019-\u2010\u2011_&/@#%")
# Thai, Lao, Tibetan, Burmese, Khmer, Japanese and Chinese.
_WITHOUT_BLANKS = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)


class TokenizerError(ValueError):
    """A tokenizer file that cannot be read, or training text too small for the requested vocabulary.

    Args:
        message: What is wrong, and where.
        reason: The same without the place.
    """

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason or message


@dataclass(frozen=True)
class Encoding:
    """One text in tokens.

    Args:
        ids: Token ids, without `<s>` or `</s>`.
        tokens: Their text; an unknown token shows its characters.
        spans: For each token the characters of the given text that it covers, [begin, end), without blanks around.
        unknown: Whether each token is `<unk>`.
    """

    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    unknown: tuple[bool, ...]

    def __len__(self) -> int:
        return len(self.ids)

    def unknown_characters(self, text: str) -> tuple[str, ...]:
        """Return the characters of this text that the vocabulary lacks, each once, in order."""
        spans = (text[begin:end] for (begin, end), mark in zip(self.spans, self.unknown, strict=True) if mark)
        return tuple(dict.fromkeys(character for span in spans for character in span if not character.isspace()))


class Tokenizer:
    """A trained SentencePiece model; `source` is the one that reads sources, which is itself unless there are two.

    Args:
        model: The bytes of a `.model` file.
        source_model: The bytes of another one, for sources.

    Attributes:
        closed: Whether every token is a whole word, as after `from_symbols`. Words of the source then begin at blanks
            only.

    Raises:
        TokenizerError: The bytes are not a SentencePiece model, it lacks one of the four special tokens, or the two
            vocabularies give them different ids.
    """

    def __init__(self, model: bytes, source_model: bytes | None = None) -> None:
        self.model = model
        try:
            check_expansion(model)
            self._processor = sentencepiece.SentencePieceProcessor(model_proto=model)
            tokens = self._processor.id_to_piece(list(range(len(self._processor))))
        except (RuntimeError, TypeError) as error:
            raise TokenizerError("not a valid SentencePiece model") from error
        except MessageTooLargeError as error:
            raise TokenizerError(str(error)) from error
        except UnicodeDecodeError as error:
            raise TokenizerError(f"the SentencePiece model has a token that is not UTF-8: {error}") from error
        ids = [self._processor.pad_id(), self._processor.bos_id(), self._processor.eos_id(), self._processor.unk_id()]
        if min(ids) < 0:
            raise TokenizerError("the SentencePiece model needs <pad>, <s>, </s> and <unk>; train it with `prepare`")
        self.special = SpecialIds(pad=ids[0], bos=ids[1], eos=ids[2], unk=ids[3])
        self.closed = all(token.startswith(WORD_BOUNDARY) for i, token in enumerate(tokens) if i not in ids)
        self.source = self if source_model is None else Tokenizer(source_model)
        if self.source.special != self.special:
            raise TokenizerError("source and target vocabularies give <pad>, <s>, </s> and <unk> different ids")

    @classmethod
    def load(cls, path: Path | str) -> Tokenizer:
        """Read a `.model` file, and the one of the source if one lies beside it (see `source_file`).

        Raises:
            TokenizerError: A file is missing or damaged; the message names it.
        """
        beside = source_file(Path(path))
        if beside.with_name(VOCABULARY_FILE).exists():
            reason = f"its ids are those of {VOCABULARY_FILE}, as in a converted model, which cannot be trained further"
            raise TokenizerError(f"cannot read tokenizer {path}: {reason}", reason)
        try:
            of_source = read_regular(beside, MAX_BYTES) if beside.exists() else None
            return cls(read_regular(Path(path), MAX_BYTES), of_source)
        except (OSError, CheckpointError, TokenizerError) as error:
            reason = problem_of(error) if isinstance(error, OSError) else error.reason
            raise TokenizerError(f"cannot read tokenizer {path}: {reason}", reason) from error

    def save(self, path: Path) -> None:
        """Write the files that `load` reads."""
        for name, contents in self.files(path).items():
            atomic_write_bytes(path.with_name(name), contents)

    def files(self, path: Path) -> dict[str, bytes]:
        """Return the files that `save` writes: contents by name."""
        of_source = {source_file(path).name: self.source.model} if self.separate else {}
        return {path.name: self.model, **of_source}

    def with_languages(self, source: str | None, target: str | None) -> Tokenizer:
        """Return the vocabulary for other languages; None keeps one. Raises TokenizerError without a choice."""
        if source is None and target is None:
            return self
        raise TokenizerError("this model has no choice of languages")

    @property
    def separate(self) -> bool:
        """Whether sources have a vocabulary of their own."""
        return self.source is not self

    @classmethod
    def train(cls, texts: Iterable[str], vocab_size: int, threads: int = 2) -> Tokenizer:
        """Learn a vocabulary from the texts of both languages together.

        Args:
            texts: Sentences.
            vocab_size: Tokens in all, the four special ones included.
            threads: For SentencePiece; the result does not depend on it.

        Raises:
            TokenizerError: The texts are too few for so large a vocabulary, or too many different characters for it.
        """
        return cls(
            _trained(
                texts,
                vocab_size,
                model_type="bpe",
                normalization_rule_name="nmt_nfkc",
                character_coverage=0.9999,
                split_digits=True,
                max_sentence_length=16_384,
                num_threads=threads,
            )
        )

    @classmethod
    def from_symbols(cls, symbols: Iterable[str]) -> Tokenizer:
        """Return a closed vocabulary: each symbol is a token, and every other word between blanks is `<unk>`.

        Raises:
            TokenizerError: There are no symbols, or one is empty or has a blank in it.
        """
        each = sorted(set(symbols))
        if not each or any(symbol.split() != [symbol] for symbol in each):
            raise TokenizerError("a closed vocabulary needs symbols without blanks")
        model = _trained(
            each, len(each) + 4, model_type="word", normalization_rule_name="identity", character_coverage=1.0
        )
        return cls(model)

    def __len__(self) -> int:
        return int(self._processor.get_piece_size())

    @property
    def sha256(self) -> str:
        """Hash of the model file, and of the source's after it if there are two."""
        return hashlib.sha256(b"".join(self.files(Path(TOKENIZER_FILE)).values())).hexdigest()

    def encode(self, text: str) -> Encoding:
        """Text -> tokens, with the characters that each covers. Half of a surrogate pair is an unknown character."""
        mapping = self._processor.encode(LONE_SURROGATE.sub("\ufffd", text), return_type="offset_mapping")
        return Encoding(
            ids=tuple(mapping["ids"]),
            tokens=tuple(mapping["pieces"]),
            spans=tuple(
                self._span(text, token, *span)
                for token, span in zip(mapping["pieces"], mapping["offsets"], strict=True)
            ),
            unknown=tuple(token_id == self.special.unk for token_id in mapping["ids"]),
        )

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Texts -> ids; the fast way for whole corpora."""
        ids: list[list[int]] = self._processor.encode(list(texts), return_type=int)
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """Ids -> text; special tokens vanish, `<unk>` becomes U+2047, a double question mark."""
        text: str = self._processor.decode([int(i) for i in ids])
        return text

    @staticmethod
    def _span(text: str, token: str, begin: int, end: int) -> tuple[int, int]:
        """Return a span without blanks around; that of a token before the last one of its character has it too."""
        part = text[begin:end]
        begin += len(part) - len(part.lstrip())
        return begin, max(begin + len(part.strip()), min(begin + bool(token.strip(WORD_BOUNDARY)), len(text)))

    def spans(self, ids: Sequence[int]) -> tuple[tuple[int, int], ...]:
        """Return the characters of `decode(ids)` that each token covers, as in `Encoding`."""
        text, spans, begin = self.decode(ids), [], 0
        for count in range(1, len(ids) + 1):
            so_far = self.decode(ids[:count])
            known = begin
            while so_far[known : known + 1] == text[known : known + 1] != "":
                known += 1
            part = len(so_far) > known  # of a character of several tokens, which is U+FFFD until the last
            spans.append(self._span(text, "", begin, known + part))
            begin = known
        return tuple(spans)

    def token(self, token_id: int) -> str:
        """Return the text of one token, with its word-boundary mark."""
        text: str = self._processor.id_to_piece(int(token_id))
        return text

    def tokens(self, ids: Sequence[int]) -> tuple[str, ...]:
        """Return the text of each token."""
        return tuple(self.token(i) for i in ids)


def _trained(texts: Iterable[str], vocab_size: int, **options: Any) -> bytes:
    """Return a SentencePiece model with our four special tokens. Raises TokenizerError when it cannot be trained."""
    writer, special = io.BytesIO(), SpecialIds()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts),
            model_writer=writer,
            vocab_size=vocab_size,
            pad_id=special.pad,
            bos_id=special.bos,
            eos_id=special.eos,
            unk_id=special.unk,
            minloglevel=2,
            **options,
        )
    except (RuntimeError, OSError) as error:
        raise TokenizerError(f"cannot train a vocabulary of {vocab_size} tokens from these texts: {error}") from error
    return writer.getvalue()


def token_id(tokenizer: Tokenizer, token: str) -> int:
    """Return the id of a token, with or without the mark of a word's beginning. Raises ValueError for another text."""
    known = {tokenizer.token(number): number for number in range(len(tokenizer))}
    number = known.get(WORD_BOUNDARY + token, known.get(token))
    if number is None:
        raise ValueError(f"{token[:50]!r} is no token of this model; a word may be several")
    return number


def source_file(path: Path) -> Path:
    """Return the file of a separate source vocabulary: beside the target's, with `source_` before its name."""
    return path.with_name(f"source_{path.name}")


def word_numbers(tokens: Sequence[str], *, at_blanks: bool = False) -> tuple[int, ...]:
    """Return the word that each token belongs to, counted from 0.

    A word starts at a word-boundary mark; punctuation is a word of its own unless it joins (isn't, well-known), or
    unless words begin `at_blanks` only, as in treebanks, where "U.S." is one. Scripts that put no blanks between words
    do not show where one begins, so each token in them is a word.
    """
    numbers: list[int] = []
    previous = ""
    for token in tokens:
        starts = token.startswith(WORD_BOUNDARY) or (
            not at_blanks
            and (_is_punctuation(token) or _is_punctuation(previous) or _is_without_blanks(previous, token))
        )
        # A boundary mark alone belongs to the token that follows it.
        joined = not starts or previous == WORD_BOUNDARY
        numbers.append(0 if not numbers else numbers[-1] + (0 if joined else 1))
        previous = token
    return tuple(numbers)


def _is_punctuation(token: str) -> bool:
    text = token.replace(WORD_BOUNDARY, "")
    return bool(text) and all(
        unicodedata.category(character).startswith("P") and character not in _WORD_INTERNAL for character in text
    )


def _is_without_blanks(before: str, after: str) -> bool:
    """Return whether two tokens meet in a script without blanks between words; a vowel sign stays with its letter."""
    if not after or unicodedata.category(after[0]).startswith("M"):
        return False
    return bool(_WITHOUT_BLANKS.match(after) or (before and _WITHOUT_BLANKS.match(before[-1])))


def axis(
    tokens: Sequence[str],
    spans: Sequence[tuple[int, int]] = (),
    *,
    start: bool = False,
    end: bool = False,
    at_blanks: bool = False,
) -> Axis:
    """Return an axis of tokens, with `<s>` before (decoder inputs) or `</s>` after (source, outputs).

    `spans` as in `Axis`, `at_blanks` as in `word_numbers`.
    """
    words = word_numbers(tokens, at_blanks=at_blanks)
    labels, special = list(tokens), [False] * len(tokens)
    if start:
        labels, special = [BOS_TOKEN, *labels], [True, *special]
        words = (0, *(word + 1 for word in words))
    if end:
        labels, special = [*labels, EOS_TOKEN], [*special, True]
        words = (*words, words[-1] + 1 if words else 0)
    places = (*[(0, 0)] * start, *spans, *[(spans[-1][1],) * 2] * end) if spans else ()
    return Axis(tuple(labels), words, tuple(special), places)
