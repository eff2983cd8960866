"""Token lists from the files of a foreign tokenizer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from transformer_core.conversion.foreign_config import Options
from transformer_core.conversion.foreign_folder import ConversionError, ForeignFolder
from transformer_core.text.segmenters import Segmenter, SegmenterError, SentencePieceSegmenter
from transformer_core.text.vocab_json_tokenizer import ListedTokenizer
from transformer_core.text.vocabulary import MAX_TOKENS, Vocabulary, VocabularyError, unused

UNKNOWN, PADDING, START, END, MASK = "<unk>", "<pad>", "<s>", "</s>", "<mask>"
TOKENIZER_CONFIG = "tokenizer_config.json"


def listed(options: Options, file: str, ids: Mapping[str, Any], size: int) -> tuple[str, ...]:
    """List the tokens by id, one for each row of the embedding; an id without a token is `<unused ...>`.

    Args:
        options: Configuration that errors name.
        file: File of the ids.
        ids: Token -> id.
        size: Rows of the embedding.
    """
    if not 0 < size <= MAX_TOKENS:
        raise options.fail(f"the vocabulary has {size:,} tokens, but at most {MAX_TOKENS:,} are allowed")
    tokens = [unused(number) for number in range(size)]
    taken = bytearray(size)
    for token, number in ids.items():
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < size:
            raise options.fail(f"{file}: {token[:40]!r} has id {number!r}, but the embedding has {size:,} rows")
        if taken[number]:
            raise options.fail(f"{file}: {token[:40]!r} and {tokens[number][:40]!r} have the same id {number}")
        tokens[number], taken[number] = token, 1
    return tuple(tokens)


def id_of(options: Options, file: str, ids: Mapping[str, Any], token: str) -> int:
    """Return the id of a special token. Raises ConversionError if it is missing."""
    number = ids.get(token)
    if isinstance(number, bool) or not isinstance(number, int):
        raise options.fail(f"{file}: has no id for {token}")
    return number


def sentencepiece(folder: ForeignFolder, name: str) -> SentencePieceSegmenter:
    """Load a SentencePiece model of the folder."""
    try:
        return SentencePieceSegmenter(folder.contents(name))
    except SegmenterError as error:
        raise ConversionError(f"{folder.path / name}: {error}") from error


def added_tokens(folder: ForeignFolder, after: Mapping[str, Any]) -> dict[str, int]:
    """Read tokens outside the SentencePiece model, such as languages, with their ids.

    Ids come from `tokenizer.json`, `tokenizer_config.json` or `added_tokens.json`. Tokens that only have a name get the
    next free ids.

    Args:
        folder: The foreign folder.
        after: Ids of the other tokens; tokens that only have a name follow them.
    """
    config = folder.json_if_there(TOKENIZER_CONFIG)
    ids: dict[str, int] = {}
    for entry in _list(folder.json_if_there("tokenizer.json").get("added_tokens")):
        if isinstance(entry, dict):
            ids[str(entry.get("content"))] = _id(entry.get("id"))
    decoder = config.get("added_tokens_decoder")
    for number, entry in (decoder if isinstance(decoder, dict) else {}).items():
        if isinstance(entry, dict) and re.fullmatch(r"\d{1,9}", number):
            ids[str(entry.get("content"))] = int(number)
    for token, number in folder.json_if_there("added_tokens.json").items():
        ids[token] = _id(number)
    special = folder.json_if_there("special_tokens_map.json")
    names = [
        str(entry.get("content") if isinstance(entry, dict) else entry)
        for holder in (special, config)
        for key in ("additional_special_tokens", "extra_special_tokens")
        for entry in _list(holder.get(key))
    ]
    unknown = [name for name in dict.fromkeys(names) if name not in ids]
    taken, next_id = set(ids.values()), max(map(_id, after.values()), default=0) + 1
    for token in unknown:
        while next_id in taken:
            next_id += 1
        ids[token] = next_id
        taken.add(next_id)
    return ids


def _list(value: object) -> Iterable[Any]:
    return value if isinstance(value, list) else []


def _id(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def tokenizer(options: Options, vocabulary: dict[str, Any], target: Segmenter, source: Segmenter) -> ListedTokenizer:
    """Build the tokenizer of a converted model. Raises ConversionError for invalid lists."""
    try:
        return ListedTokenizer(Vocabulary(**vocabulary), target, source)
    except VocabularyError as error:
        raise options.fail(f"the vocabulary {error}") from error
