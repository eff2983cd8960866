"""`vocabulary.json`: the tokens of a converted model by their ids, where those are not SentencePiece's own.

A converted model cuts text with the SentencePiece models (or byte-level merges) that it came with, and looks up each
token in a list. A token that the list lacks is `<unk>`. Models of many languages begin a source, a translation or both
with the token of a language.

    {"format_version": 1, "scheme": "sentencepiece", "special_ids": {"pad": ..., "bos": ..., "eos": ..., "unk": ...},
     "source_prefix": "source language", "target_prefix": "target language", "marks": false,
     "languages": {"de": "__de__", ...}, "source_language": "de", "target_language": "en",
     "tokens": [...], "source_tokens": [...]}
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal, get_args

from transformer_core.config import ConfigError, SpecialIds
from transformer_core.storage.files import parse_json
from transformer_core.storage.format_1 import current_names

FORMAT_VERSION = 1
MAX_TOKENS = 2_000_000  # of a list; NLLB-200 has 256,206
_MAX_LANGUAGES = 10_000
_LONGEST = 1_000  # characters of a token

Scheme = Literal["sentencepiece", "byte-level"]
SOURCE_LANGUAGE, TARGET_LANGUAGE = "source language", "target language"


class VocabularyError(ValueError):
    """A `vocabulary.json` that makes no sense, or a language that a model does not have."""


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """Tokens of a converted model, and the ones with which texts begin.

    Args:
        tokens: By id; of the target where the source has a list of its own.
        source_tokens: By id, of such a source; empty where both share one list.
        special: Ids of the special tokens, the same in both lists.
        scheme: How text is cut: by SentencePiece, or by merges of bytes as in GPT-2 and BART.
        source_prefix: First token of each source: a token, the token of its language (`source language`) or of the
            translation's (`target language`), or nothing (empty).
        target_prefix: The same for translations.
        marks: Whether a text may name its target language in `>>` and `<<` at its start, as in OPUS-MT.
        languages: Name of a language -> its token.
        source_language: Of sources; empty where there is no choice, or none was made.
        target_language: Of translations.

    Raises:
        VocabularyError: They do not fit together.
    """

    tokens: Sequence[str]
    source_tokens: Sequence[str] = ()
    special: SpecialIds
    scheme: Scheme = "sentencepiece"
    source_prefix: str = ""
    target_prefix: str = ""
    marks: bool = False
    languages: Mapping[str, str] = field(default_factory=dict)
    source_language: str = ""
    target_language: str = ""

    def __post_init__(self) -> None:
        for name in ("tokens", "source_tokens"):
            _check_texts(name, getattr(self, name), MAX_TOKENS)
        _check_texts("languages", self.languages, _MAX_LANGUAGES)
        _check_texts("languages", list(self.languages.values()), _MAX_LANGUAGES)
        for name in ("scheme", "source_prefix", "target_prefix", "source_language", "target_language"):
            _require(isinstance(getattr(self, name), str), f"{name} is {getattr(self, name)!r}, but must be a text")
        _require(self.scheme in get_args(Scheme), f"scheme is {self.scheme!r}, but must be one of {get_args(Scheme)}")
        _require(isinstance(self.marks, bool), f"marks is {self.marks!r}, but must be true or false")
        ids = [value for name, value in self.special.to_dict().items() if name != "forced_bos"]
        for tokens in (self.tokens, self.source_tokens or self.tokens):
            _require(max(ids) < len(tokens), f"special ids {ids} are beyond the list of {len(tokens)} tokens")
        for language in (self.source_language, self.target_language):
            _require(not language or language in self.languages, f"has no language {language!r}")
        for prefix, side in ((self.source_prefix, self.of_source), (self.target_prefix, self.of_target)):
            named = prefix in (SOURCE_LANGUAGE, TARGET_LANGUAGE)
            needed = self.languages.values() if named else [prefix] if prefix else []
            lacking = [token for token in needed if token not in side]
            _require(not lacking, f"has no token {lacking[:1]}, with which texts begin")

    @cached_property
    def of_target(self) -> Mapping[str, int]:
        """Token of the target -> id."""
        return _ids(self.tokens)

    @cached_property
    def of_source(self) -> Mapping[str, int]:
        """Token of the source -> id."""
        return _ids(self.source_tokens) if self.source_tokens else self.of_target

    @cached_property
    def never_text(self) -> frozenset[str]:
        """Tokens that encoding never emits and decoding never prints."""
        ids = [value for name, value in self.special.to_dict().items() if name != "forced_bos"]
        special = {tokens[i] for tokens in (self.tokens, self.source_tokens or self.tokens) for i in ids}
        fixed = {self.source_prefix, self.target_prefix} - {"", SOURCE_LANGUAGE, TARGET_LANGUAGE}
        nameless = {unused(i) for i, token in enumerate(self.tokens) if token == unused(i)}
        return frozenset(special | fixed | nameless | set(self.languages.values()))

    def prefix(self, side: Literal["source", "target"]) -> str:
        """Return the token with which texts of a side begin; empty for none.

        Raises:
            VocabularyError: It is the token of a language that was not chosen.
        """
        token = self.source_prefix if side == "source" else self.target_prefix
        if token not in (SOURCE_LANGUAGE, TARGET_LANGUAGE):
            return token
        language = self.source_language if token == SOURCE_LANGUAGE else self.target_language
        if not language and not self.marks:
            raise VocabularyError(f"this model needs a {token}: {self._choice()}")
        return self.languages[language] if language else ""

    def with_languages(self, source: str | None, target: str | None) -> Vocabulary:
        """Return the vocabulary for other languages; None leaves one as it is.

        Raises:
            VocabularyError: There is no such choice, or no such language.
        """
        prefixes = (self.source_prefix, self.target_prefix)
        for language, kind in ((source, SOURCE_LANGUAGE), (target, TARGET_LANGUAGE)):
            if language is not None and kind not in prefixes:
                raise VocabularyError(f"this model has no choice of a {kind}")
            if language is not None and language not in self.languages:
                raise VocabularyError(f"this model has no {kind} {language!r}; {self._choice()}")
        return replace(
            self,
            source_language=self.source_language if source is None else source,
            target_language=self.target_language if target is None else target,
        )

    def _choice(self) -> str:
        return f"it has {', '.join(sorted(self.languages))}"

    def to_bytes(self) -> bytes:
        """Return the contents of `vocabulary.json`."""
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "special"}
        special = asdict(self.special)
        special.pop("forced_bos")
        values = {"format_version": FORMAT_VERSION, "special_ids": special, **values}
        # As json.dumps with indent=0, which takes ten times as long for lists of a hundred thousand tokens.
        entries = ",\n".join(f"{_text(name)}: {_json(value)}" for name, value in values.items())
        return f"{{\n{entries}\n}}\n".encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Vocabulary:
        """Read `vocabulary.json`. Raises VocabularyError."""
        try:
            values: Any = parse_json(data)
        except (ValueError, RecursionError) as error:
            raise VocabularyError(f"cannot be read: {error}") from error
        if not isinstance(values, dict) or values.pop("format_version", None) != FORMAT_VERSION:
            raise VocabularyError(f"is not of format {FORMAT_VERSION}")
        values = current_names(values)
        special = values.pop("special_ids", None)
        for name in ("tokens", "source_tokens"):
            _require(isinstance(values.get(name), list), f"{name} must be a list")
        _require(isinstance(values.get("languages"), dict), "languages must be an object")
        try:
            return cls(special=SpecialIds.from_dict(special), **values)
        except (ConfigError, TypeError) as error:
            raise VocabularyError(str(error)) from error


def unused(number: int) -> str:
    """Return the name of an id without a token; it has a blank, so encoding never emits it."""
    return f"<unused {number}>"


_text = json.JSONEncoder(ensure_ascii=False).encode


def _json(value: object) -> str:
    if isinstance(value, list | tuple) and value:
        return "[\n" + ",\n".join(map(_text, value)) + "\n]"
    return json.dumps(value, ensure_ascii=False, indent=0)


def _ids(tokens: Sequence[str]) -> dict[str, int]:
    numbers = {token: number for number, token in enumerate(tokens)}
    _require(len(numbers) == len(tokens), "lists a token twice")
    return numbers


def _check_texts(name: str, texts: Sequence[str] | Mapping[str, str], maximum: int) -> None:
    _require(len(texts) <= maximum, f"{name} has {len(texts):,} entries, but at most {maximum:,} are allowed")
    fine = all(isinstance(text, str) and 0 < len(text) <= _LONGEST for text in texts)
    _require(fine, f"{name} must hold texts of 1 to {_LONGEST:,} characters")
    _require(_is_unicode("".join(texts)), f"{name} has half of a surrogate pair")


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise VocabularyError(message)
