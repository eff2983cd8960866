"""The tokenizer of a converted model: tokens as its own files cut them, ids from `vocabulary.json`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from transformer_core.storage.files import VOCABULARY_FILE, CheckpointError, problem_of, read_regular
from transformer_core.text.byte_level import ByteLevelSegmenter
from transformer_core.text.segmenters import UNKNOWN, Segmenter, SegmenterError, SentencePieceSegmenter
from transformer_core.text.tokenizer import LONE_SURROGATE, MAX_BYTES, Encoding, Tokenizer, TokenizerError, source_file
from transformer_core.text.vocabulary import Scheme, Vocabulary, VocabularyError

Side = Literal["source", "target"]

SEGMENTERS: dict[Scheme, Callable[[bytes], Segmenter]] = {
    "sentencepiece": SentencePieceSegmenter,
    "byte-level": ByteLevelSegmenter,
}


class ListedTokenizer(Tokenizer):
    """One side of a converted model's vocabulary; `source` is the side that reads sources.

    Typed text never becomes a special token, except a language between `>>` and `<<` at the start of a source
    where the model has `marks`.

    Args:
        vocabulary: The lists of tokens.
        target: Segmenter of translations.
        source: Segmenter of sources.
        side: Which of them this is.
    """

    def __init__(self, vocabulary: Vocabulary, target: Segmenter, source: Segmenter, side: Side = "target") -> None:
        self.vocabulary, self.side = vocabulary, side
        self._segmenters = {"target": target, "source": source}
        self._segmenter = self._segmenters[side]
        self.model = self._segmenter.model
        self.closed = False
        of_source = side == "source"
        self._ids = vocabulary.of_source if of_source else vocabulary.of_target
        self._tokens = (vocabulary.source_tokens or vocabulary.tokens) if of_source else vocabulary.tokens
        self._hidden = frozenset(self._ids[token] for token in vocabulary.never_text if token in self._ids)
        self._known = {token: number for token, number in self._ids.items() if number not in self._hidden}
        self.special = vocabulary.special.replace(forced_bos=self._forced_bos())
        self.source = self if of_source else ListedTokenizer(vocabulary, target, source, "source")

    def _forced_bos(self) -> int:
        """Return the id of the first token of translations, if their language is known; -1 for none."""
        try:
            return self.vocabulary.of_target.get(self.vocabulary.prefix("target"), -1)
        except VocabularyError:
            return -1

    @property
    def separate(self) -> bool:
        """Whether sources have a list of their own."""
        return bool(self.vocabulary.source_tokens)

    def with_languages(self, source: str | None, target: str | None) -> Tokenizer:
        """Return the same vocabulary for other languages; None leaves one as it is.

        Raises:
            TokenizerError: There is no such choice, or no such language.
        """
        try:
            vocabulary = self.vocabulary.with_languages(source, target)
        except VocabularyError as error:
            raise TokenizerError(str(error)) from error
        return ListedTokenizer(vocabulary, self._segmenters["target"], self._segmenters["source"], self.side)

    def files(self, path: Path) -> dict[str, bytes]:
        """Return the files that `save` writes: contents by name."""
        target, source = (self._segmenters[side].model for side in ("target", "source"))
        of_source = {source_file(path).name: source} if source != target else {}
        return {path.name: target, **of_source, VOCABULARY_FILE: self.vocabulary.to_bytes()}

    def __len__(self) -> int:
        return len(self._tokens)

    def encode(self, text: str) -> Encoding:
        """Text -> tokens, the token of a language before them; nothing gives no tokens at all.

        Raises:
            TokenizerError: The model has several languages, and one has to be chosen.
        """
        text = LONE_SURROGATE.sub("\ufffd", text)
        mark = self._mark(text)
        cut = self._segmenter.cut(text[len(mark) :])
        prefix = mark or self._prefix()
        begins = bool(prefix) and bool(mark or cut.tokens)
        unk = self.special.unk
        ids = [self._known.get(token, unk) for token in cut.tokens]
        tokens = [self._segmenter.shown(token) for token in cut.tokens]
        skip = len(mark)
        spans = [
            self._span(text, t, begin + skip, end + skip) for t, (begin, end) in zip(tokens, cut.spans, strict=True)
        ]
        if begins:
            ids, spans = [self._ids.get(prefix, unk), *ids], [(0, len(mark)), *spans]
            tokens = [prefix, *tokens]
        return Encoding(tuple(ids), tuple(tokens), tuple(spans), tuple(each == unk for each in ids))

    def _mark(self, text: str) -> str:
        """`>>fra<<` at the start of a source, in models that know such marks."""
        if self.side == "source" and self.vocabulary.marks and text.startswith(">>") and "<<" in text:
            return text[: text.index("<<") + 2]
        return ""

    def _prefix(self) -> str:
        try:
            self.vocabulary.prefix("target")  # a source is of no use without a language to translate into
            return self.vocabulary.prefix(self.side)
        except VocabularyError as error:
            raise TokenizerError(str(error)) from error

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Texts -> ids."""
        return [list(self.encode(text).ids) for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        """Ids -> text; special tokens vanish, `<unk>` becomes U+2047, a double question mark."""
        parts: list[str] = []
        run: list[str] = []
        for number in (int(each) for each in ids):
            if number == self.special.unk:
                parts.extend((self._segmenter.join(run), UNKNOWN))
                run = []
            elif number not in self._hidden:
                run.append(self._tokens[number])
        return "".join((*parts, self._segmenter.join(run)))

    def token(self, token_id: int) -> str:
        """Return the text of one token, with its word-boundary mark."""
        token = self._tokens[int(token_id)]
        return token if int(token_id) in self._hidden else self._segmenter.shown(token)


def load_tokenizer(path: Path) -> Tokenizer:
    """Load a checkpoint's tokenizer: a `ListedTokenizer` if `vocabulary.json` is beside the file, else a `Tokenizer`.

    Raises:
        TokenizerError: A file is missing or damaged; the message names it.
    """
    listed, beside = path.with_name(VOCABULARY_FILE), source_file(path)
    if not listed.exists():
        return Tokenizer.load(path)
    at = listed
    try:
        vocabulary = Vocabulary.from_bytes(read_regular(listed, MAX_BYTES))
        at = path
        target = SEGMENTERS[vocabulary.scheme](read_regular(path, MAX_BYTES))
        at = beside
        source = SEGMENTERS[vocabulary.scheme](read_regular(beside, MAX_BYTES)) if beside.exists() else target
    except (OSError, CheckpointError, SegmenterError, VocabularyError) as error:
        reason = problem_of(error) if isinstance(error, OSError) else getattr(error, "reason", str(error))
        raise TokenizerError(f"cannot read {at}: {reason}", f"{at.name}: {reason}") from error
    return ListedTokenizer(vocabulary, target, source)
