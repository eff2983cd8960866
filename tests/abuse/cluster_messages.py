"""Messages between front ends and a model server: requests, replies, calls of the class store, and their results."""

from __future__ import annotations

import json
import struct
from contextlib import suppress
from functools import cache
from typing import Any, cast

import msgspec
from hypothesis import strategies as st

from tests.abuse.damage import NUMBERS, damaged, damaged_json, damages
from tests.abuse.samples import SMALL
from tests.abuse.target import Target
from transformer_core.attention_maps import KINDS, MapsTooLarge
from transformer_core.text.tokenizer import Encoding
from transformer_core.translator import Translator
from viz_app.components.buffer import split_buffer
from viz_app.serving.checked_json import READ_ERRORS
from viz_app.serving.classes import classrooms
from viz_app.serving.classes.class_messages import METHODS, Failure, call, result_of, to_call
from viz_app.serving.classes.classrooms import Classrooms, Place
from viz_app.serving.classes.polls import AttentionQuestion, LessonQuestion, OwnQuestion
from viz_app.serving.cluster.decoding_messages import (
    MAX_HEADER_BYTES,
    BadReply,
    Refusal,
    Refused,
    Request,
    read_reply,
    read_request,
    to_reply,
)
from viz_app.serving.cluster.remote_decoder import RemoteDecoder
from viz_app.serving.decoding.decoded_batch import Decoded, decode_together
from viz_app.serving.decoding.decoding_limits import MAX_MAP_BYTES

# Sentences to a model server, and its replies.


@cache
def _translator() -> Translator:
    translator = Translator.load(SMALL / "base")
    translator.most_map_bytes = MAX_MAP_BYTES
    return translator


@cache
def _sentence() -> Encoding:
    return _translator().encode("The dog is fast \u2603.")


@cache
def _reply() -> tuple[Any, bytes]:
    """The header of a good reply, and its weights."""
    (result,) = decode_together(_translator(), [_sentence()], 2, lambda: False, lambda _: False)
    assert isinstance(result, Decoded)
    header, weights = split_buffer(to_reply(result))
    return header, bytes(weights)


def _check_asked(case: dict[str, Any]) -> None:
    good = Request(_translator().checkpoint_hash, 4, _sentence())
    try:
        result = read_request(damaged_json(msgspec.to_builtins(good), case), _translator())
    except Refused as refused:
        assert refused.refusal.error in ("request", "other_model")
        msgspec.json.encode(refused.refusal)
        return
    assert 1 <= result.beam <= 16 and len(result.sentence) <= _translator().max_tokens


class _TooShort(Exception):
    """The connection ended within the reply."""


def _check_reply(case: dict[str, Any]) -> None:
    header, weights = _reply()
    text = damaged_json(header, {name: case[name] for name in ("edits", "deep") if name in case})
    length = len(text) if case["said"] is None else case["said"] % 2**32
    data = memoryview(damaged(struct.pack("<I", length) + text + weights, case))
    at = 0

    def read(count: int) -> bytearray:
        nonlocal at
        assert 0 <= count <= max(MAX_HEADER_BYTES, MAX_MAP_BYTES), "so many bytes are asked for"
        if at + count > len(data):
            raise _TooShort
        at += count
        return bytearray(data[at - count : at])

    try:
        result = read_reply(read, _translator(), _sentence())
    except (BadReply, MapsTooLarge, _TooShort) as error:
        assert str(error) or isinstance(error, _TooShort)
        return
    for kind in KINDS:
        assert result.maps.weights(kind).shape[2:] == (len(result.maps.queries(kind)), len(result.maps.keys(kind)))


def _check_refusal(case: dict[str, Any]) -> None:
    decoder = RemoteDecoder(("127.0.0.1", 8000), _translator(), cast(Any, None))
    body = damaged_json(msgspec.to_builtins(Refusal("maps_too_large", "large", 2, 1)), case)
    assert isinstance(decoder._error(422, body), Exception)


_REPLIES = st.builds(
    lambda damage, said: {**damage, "said": said}, damages, st.none() | st.none() | st.sampled_from(NUMBERS)
)


# Calls of the class store, and their results.

_OWNER = "owner"
_ERRORS = (classrooms.AnswerRefused, classrooms.NoSuchClass, classrooms.NotTheTeacher, classrooms.TooManyClasses)
_HEAD = AttentionQuestion(head="cross.6.4", queries=("Hund",), keys=("the", "dog"), weights=(0.25, 0.75))
_OWN = OwnQuestion(text="Why?", choices=("a", "b"), right=1)


def _class() -> tuple[Classrooms, str]:
    """A store with a class whose poll has an answer."""
    store = Classrooms()
    code = store.open(_OWNER, "10.0.0.1")
    store.ask(code, _OWNER, _HEAD)
    store.answer(code, "student", 1, 1)
    store.show_place(code, _OWNER, Place(page="lessons", params={"lesson": "masks"}, view="{}"))
    store.lead(code, _OWNER, True)
    return store, code


def _arguments(code: str) -> dict[str, list[tuple[object, ...]]]:
    """Good arguments of some methods; the others take a code and a browser."""
    lesson = LessonQuestion(lesson="masks", scene="predict", options=4, right=2)
    return {
        "open": [(_OWNER, "10.0.0.1"), ("another", "")],
        "code_of": [(_OWNER,)],
        "ask": [(code, _OWNER, question) for question in (_HEAD, _OWN, lesson)],
        "set_state": [(code, _OWNER, "revealed")],
        "answer": [(code, "another", 1, 0)],
        "lead": [(code, _OWNER, False)],
        "show_place": [(code, _OWNER, Place(page="", params={"text": "A dog."}))],
    }


def _check_call(case: dict[str, Any]) -> None:
    store, code = _class()
    method = case["method"]
    known = _arguments(code).get(method, [(code, _OWNER)])
    arguments: Any = [code, _OWNER]
    if method in METHODS:
        with suppress(TypeError):  # a method that takes other arguments is called with these all the same
            arguments = json.loads(to_call(method, *known[case["which"] % len(known)]))
    answer = call(store, method, damaged_json(arguments, case["sent"]))
    body = msgspec.json.encode(answer) if isinstance(answer, Failure) else answer
    if method not in METHODS:
        assert answer == Failure("Call")
        return
    failed = isinstance(answer, Failure)
    with suppress(*_ERRORS, *((ValueError,) if answer == Failure("Call") else ())):
        result_of(method, body, failed=failed)  # what a server answers is read
    with suppress(*_ERRORS, *READ_ERRORS, *((ValueError,) if failed else ())):
        result_of(method, damaged_json(json.loads(body), case["answered"]), failed=failed)
    store.open("a teacher", "10.0.0.2")


_CALLS = st.fixed_dictionaries(
    {
        "method": st.sampled_from((*METHODS, "__init__", "_class", "", "open/..")),
        "which": st.integers(0, 3),
        "sent": damages,
        "answered": damages,
    }
)

TARGETS = (
    Target("asked", damages, _check_asked),
    Target("replies", _REPLIES, _check_reply),
    Target("refusals", damages, _check_refusal),
    Target("calls", _CALLS, _check_call),
)
