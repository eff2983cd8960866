"""Messages between a front end and a model server over HTTP: a sentence there, its search and its maps back.

A request is JSON. So is a refusal. A reply is a header of JSON and the weights of all maps after it, little-endian
float32, in the layout of `viz_app.components.buffer`. Every size is checked before memory is spent on it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta

from transformer_core.attention_maps import KINDS, AttentionMaps, Axis, check_map_bytes
from transformer_core.decoding.beam import SearchResult
from transformer_core.text.tokenizer import Encoding
from viz_app.components.buffer import join_buffer
from viz_app.serving.checked_json import READ_ERRORS
from viz_app.serving.decoding.decoded_batch import Decoded

if TYPE_CHECKING:
    from transformer_core.translator import Translator

MAX_REQUEST_BYTES = 1_000_000
MAX_HEADER_BYTES = 16_000_000  # of a reply; the longest search of the shipped model takes a tenth
MAX_BEAM = 16

_WEIGHT = np.dtype("<f4")

Read = Callable[[int], bytearray]  # exactly this number of bytes


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Sentence to decode.

    Args:
        weights_hash: Weights hash of the wanted model.
        beam: Hypotheses kept at each step.
        sentence: The sentence.
    """

    weights_hash: Annotated[str, Meta(max_length=64)]
    beam: Annotated[int, Meta(ge=1, le=MAX_BEAM)]
    sentence: Encoding


class Identity(msgspec.Struct, frozen=True):
    """Identity of a server's model."""

    weights_hash: Annotated[str, Meta(max_length=64)]


class Refusal(msgspec.Struct, frozen=True):
    """Reason why a server has not decoded a sentence.

    Args:
        error: Kind of reason.
        message: Problem, in English.
        needed: Bytes of the maps, if they are too large.
        limit: Allowed bytes.
    """

    error: Literal["request", "other_model", "maps_too_large", "deadline", "failed"]
    message: str = ""
    needed: int = 0
    limit: int = 0


STATUS = {"request": 400, "other_model": 409, "maps_too_large": 422, "deadline": 504, "failed": 500}


class Refused(Exception):
    """A server refuses to decode a request.

    Args:
        refusal: The reason.
    """

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


class BadReply(RuntimeError):
    """A model server answered with an invalid reply."""


class _Header(msgspec.Struct, frozen=True):
    result: SearchResult
    source: Axis
    inputs: Axis
    outputs: Axis
    finished: bool
    layers: int
    heads: int


def read_request(data: bytes, translator: Translator) -> Request:
    """Read a request for a model. Raises Refused for one that it cannot serve."""
    try:
        request = msgspec.json.decode(data, type=Request)
    except READ_ERRORS as error:
        raise Refused(Refusal("request", str(error))) from error
    if request.weights_hash != translator.checkpoint_hash:
        raise Refused(Refusal("other_model", f"this server has the model {translator.checkpoint_hash}"))
    sentence, vocabulary = request.sentence, len(translator.tokenizer.source)
    if len(sentence) > translator.max_tokens:
        raise Refused(Refusal("request", f"{len(sentence)} tokens, but at most {translator.max_tokens} are allowed"))
    if not len(sentence.ids) == len(sentence.tokens) == len(sentence.spans) == len(sentence.unknown):
        raise Refused(Refusal("request", "ids, tokens, spans and unknown must be equally many"))
    if not all(0 <= each < vocabulary for each in sentence.ids):
        raise Refused(Refusal("request", f"ids must be from 0 to {vocabulary - 1}"))
    return request


def to_reply(decoded: Decoded) -> bytes:
    """Encode a decoded sentence. Raises ValueError for a probability that JSON cannot hold."""
    maps = decoded.maps
    layers, heads = maps.encoder.shape[:2]
    header = _Header(decoded.result, maps.source, maps.inputs, maps.outputs, maps.finished, layers, heads)
    weights = (np.ascontiguousarray(maps.weights(kind), _WEIGHT) for kind in KINDS)
    return join_buffer(msgspec.to_builtins(header), *(each.reshape(-1).view(np.uint8).data for each in weights))


def read_reply(read: Read, translator: Translator, sentence: Encoding) -> Decoded:
    """Decode a reply made by `to_reply`.

    Args:
        read: Reads bytes of the answer.
        translator: The same model.
        sentence: The requested sentence.

    Raises:
        BadReply: The reply is invalid, or for another model or sentence.
        MapsTooLarge: The maps are larger than `translator.most_map_bytes`.
    """
    (length,) = struct.unpack("<I", read(4))
    if length > MAX_HEADER_BYTES:
        raise BadReply(f"a header of {length:,} bytes, but at most {MAX_HEADER_BYTES:,} are allowed")
    try:
        header = msgspec.json.decode(read(length), type=_Header)
    except READ_ERRORS as error:
        raise BadReply(str(error)) from error
    layers, heads = translator.config.num_layers, translator.config.num_heads
    sources, targets = len(header.source), len(header.inputs)
    if (header.layers, header.heads, sources) != (layers, heads, len(sentence) + 1) or not header.result.hypotheses:
        raise BadReply("maps of another model or sentence")
    check_map_bytes(layers * heads, sources, targets, translator.most_map_bytes)

    def weights(queries: int, keys: int) -> np.typing.NDArray[np.float32]:
        """(L, H, Q, K)."""
        data = read(layers * heads * queries * keys * _WEIGHT.itemsize)
        return np.frombuffer(data, _WEIGHT).astype(np.float32, copy=False).reshape(layers, heads, queries, keys)

    try:
        maps = AttentionMaps(
            encoder=weights(sources, sources),
            decoder=weights(targets, targets),
            cross=weights(targets, sources),
            source=header.source,
            inputs=header.inputs,
            outputs=header.outputs,
            finished=header.finished,
        )
    except ValueError as error:
        raise BadReply(str(error)) from error
    return Decoded(header.result, maps)
