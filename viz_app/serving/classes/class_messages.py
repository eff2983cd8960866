"""Calls of a class store over the network: the name of a method, its arguments as JSON, and what comes back."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from viz_app.serving.classes.classrooms import (
    AnswerRefused,
    Classrooms,
    ClassView,
    NoSuchClass,
    NotTheTeacher,
    Place,
    PollResult,
    Question,
    State,
    TooManyClasses,
)

MAX_CALL_BYTES = 200_000  # a map of 64 tokens by 64 takes a fifth
MAX_RESULT_BYTES = 32_000_000  # the results of a hundred such maps take half

FAILED = 409  # the HTTP status of a failure

# The types of the arguments and of the result.
METHODS: dict[str, tuple[Any, Any]] = {
    "open": (tuple[str, str], str),
    "code_of": (tuple[str], str | None),
    "ask": (tuple[str, str, Question], None),
    "set_state": (tuple[str, str, State], None),
    "answer": (tuple[str, str, int, int], None),
    "look": (tuple[str, str], ClassView),
    "lead": (tuple[str, str, bool], None),
    "show_place": (tuple[str, str, Place], None),
    "results": (tuple[str, str], tuple[PollResult, ...]),
    "end": (tuple[str, str], None),
}

_ERRORS: dict[str, type[Exception]] = {
    error.__name__: error for error in (AnswerRefused, NoSuchClass, NotTheTeacher, TooManyClasses)
}


class Failure(Struct, frozen=True):
    """An error of a class store, by the name of its class; "Call" for what is no call."""

    error: str


def call(store: Classrooms, method: str, arguments: bytes) -> bytes | Failure:
    """Call a method of a store with what has come over the network; returns its result as JSON."""
    if method not in METHODS or len(arguments) > MAX_CALL_BYTES:
        return Failure("Call")
    try:
        given = msgspec.json.decode(arguments, type=METHODS[method][0])
    except (msgspec.DecodeError, UnicodeError):
        return Failure("Call")
    try:
        return msgspec.json.encode(getattr(store, method)(*given))
    except tuple(_ERRORS.values()) as error:
        return Failure(type(error).__name__)


def result_of(method: str, body: bytes, *, failed: bool) -> Any:
    """What a call has come to.

    Args:
        method: Its name.
        body: What `call` returned, as JSON.
        failed: Whether that was a failure.

    Raises:
        Exception: The error that the store raised.
        msgspec.DecodeError: The body has another form.
    """
    if failed:
        name = msgspec.json.decode(body, type=Failure).error
        raise _ERRORS.get(name, ValueError)(name)
    return msgspec.json.decode(body, type=METHODS[method][1])
