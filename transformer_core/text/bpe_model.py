"""Check of a SentencePiece model for programs that read plain BPE only."""

from __future__ import annotations

from transformer_core.attention_maps import WORD_BOUNDARY
from transformer_core.text.protobuf import message_fields
from transformer_core.text.segmenters import UNKNOWN
from transformer_core.text.tokenizer import TokenizerError

# Numbers of fields in sentencepiece_model.proto: of ModelProto, of a piece, of TrainerSpec, of NormalizerSpec.
_PIECES, _TRAINER, _NORMALIZER, _DENORMALIZER = 1, 2, 3, 5
_TEXT, _KIND = 1, 3
_MODEL_TYPE, _SUFFIX, _BYTE_FALLBACK, _UNKNOWN_SURFACE = 3, 24, 35, 44
_CHARACTERS_MAP, _DUMMY_PREFIX, _SINGLE_SPACES, _ESCAPED_SPACES = 2, 3, 4, 5
_NORMAL, _KINDS = 1, (1, 2, 3)  # normal, unknown, control
_BPE = 2


def check_bpe(model: bytes) -> None:
    """Raise TokenizerError unless a model is BPE as `Tokenizer.train` makes it; the message says what differs.

    That is: words begin with a mark, white space becomes single blanks, characters have a table, and each unknown
    character is `<unk>`.
    """
    parts: dict[int, dict[int, bytes | int]] = {_TRAINER: {}, _NORMALIZER: {}, _DENORMALIZER: {}}
    for number, value in message_fields(model):
        if number == _PIECES and isinstance(value, bytes):
            _check_piece(dict(message_fields(value)))
        elif number in parts and isinstance(value, bytes):
            parts[number] = dict(message_fields(value))
    trainer, normalizer = parts[_TRAINER], parts[_NORMALIZER]
    required = {
        "its tokens are not byte-pair encodings": trainer.get(_MODEL_TYPE) == _BPE,
        "its words end with a mark": not trainer.get(_SUFFIX),
        "it reads unknown characters as bytes": not trainer.get(_BYTE_FALLBACK),
        "it has a text of its own for unknown characters": trainer.get(_UNKNOWN_SURFACE, UNKNOWN.encode())
        == UNKNOWN.encode(),
        "it has no table of characters": bool(normalizer.get(_CHARACTERS_MAP)),
        "it keeps white space": all(
            normalizer.get(each, 1) for each in (_DUMMY_PREFIX, _SINGLE_SPACES, _ESCAPED_SPACES)
        ),
        "it changes what it has generated": not parts[_DENORMALIZER].get(_CHARACTERS_MAP),
    }
    for problem, fine in required.items():
        if not fine:
            raise TokenizerError(problem)


def _check_piece(piece: dict[int, bytes | int]) -> None:
    kind, text = piece.get(_KIND, _NORMAL), piece.get(_TEXT)
    if kind not in _KINDS:
        raise TokenizerError("it has tokens of its user or of bytes")
    if kind == _NORMAL and isinstance(text, bytes) and WORD_BOUNDARY.encode() in text[1:]:
        raise TokenizerError("it has tokens of several words")
