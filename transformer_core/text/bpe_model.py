"""Check of a SentencePiece model for programs that read plain BPE only."""

from __future__ import annotations

from functools import lru_cache

from transformer_core.axis import WORD_BOUNDARY
from transformer_core.text.protobuf import message_fields
from transformer_core.text.segmenters import UNKNOWN
from transformer_core.text.tokenizer import TokenizerError

# Numbers of fields in sentencepiece_model.proto: of ModelProto, of a piece, of TrainerSpec, of NormalizerSpec.
_PIECES, _TRAINER, _NORMALIZER, _DENORMALIZER = 1, 2, 3, 5
_TEXT, _KIND = 1, 3
_MODEL_TYPE, _SUFFIX, _BYTE_FALLBACK, _UNKNOWN_SURFACE = 3, 24, 35, 44
_CHARACTERS_MAP, _DUMMY_PREFIX, _SINGLE_SPACES, _ESCAPED_SPACES = 2, 3, 4, 5
_BPE, _KINDS = 2, {1, 2, 3}  # normal, unknown and control tokens

Fields = dict[int, bytes | int]


def check_bpe(model: bytes) -> None:
    """Raise TokenizerError unless a model is BPE as `Tokenizer.train` makes it; the message says what differs.

    That is: words begin with a mark, white space becomes single blanks, characters have a table, and each unknown
    character is `<unk>`.
    """
    if problem := _unlike_bpe(model):
        raise TokenizerError(problem)


@lru_cache(maxsize=4)  # 16,000 tokens take 50 ms, and the page Model asks whenever it is drawn
def _unlike_bpe(model: bytes) -> str:
    """Return the first difference from BPE as `Tokenizer.train` makes it; "" for none."""
    parts = [(number, dict(message_fields(part))) for number, part in message_fields(model) if isinstance(part, bytes)]
    pieces: list[Fields] = [part for number, part in parts if number == _PIECES]
    trainer, normalizer, denormalizer = (
        next((part for number, part in reversed(parts) if number == key), Fields())
        for key in (_TRAINER, _NORMALIZER, _DENORMALIZER)
    )
    spaces = (_DUMMY_PREFIX, _SINGLE_SPACES, _ESCAPED_SPACES)
    texts = (text for piece in pieces if isinstance(text := piece.get(_TEXT), bytes))
    unlike = {
        "its tokens are not byte-pair encodings": trainer.get(_MODEL_TYPE) != _BPE,
        "its words end with a mark": trainer.get(_SUFFIX),
        "it reads unknown characters as bytes": trainer.get(_BYTE_FALLBACK),
        "it has a text of its own for unknown characters": trainer.get(_UNKNOWN_SURFACE, b"")
        not in (b"", UNKNOWN.encode()),
        "it has no table of characters": not normalizer.get(_CHARACTERS_MAP),
        "it keeps white space": not all(normalizer.get(each, 1) for each in spaces),
        "it changes what it has generated": denormalizer.get(_CHARACTERS_MAP),
        "it has tokens of its user": not {piece.get(_KIND, 1) for piece in pieces} <= _KINDS,
        "it has tokens of several words": any(WORD_BOUNDARY.encode() in text[1:] for text in texts),
    }
    return next((problem for problem, is_unlike in unlike.items() if is_unlike), "")
