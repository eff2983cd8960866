"""Calls of a class store over the network: the name of a method, its arguments as JSON, and the result.

The public methods of `Classrooms` are the calls; msgspec checks arguments and results against their annotations.
"""

from __future__ import annotations

import inspect
from typing import Any, get_type_hints

import msgspec
from msgspec import Struct

from viz_app.serving.checked_json import READ_ERRORS
from viz_app.serving.classes.classrooms import AnswerRefused, Classrooms, NoSuchClass, NotTheTeacher, TooManyClasses

MAX_CALL_BYTES = 200_000  # a map of 64 tokens by 64 takes a fifth
MAX_RESULT_BYTES = 32_000_000  # the results of a hundred such maps take half

FAILED = 409  # the HTTP status of a failure

_ERRORS: dict[str, type[Exception]] = {
    error.__name__: error for error in (AnswerRefused, NoSuchClass, NotTheTeacher, TooManyClasses)
}


class Failure(Struct, frozen=True):
    """An error of a class store, by the name of its class; "Call" for an invalid call."""

    error: str


class _Method:
    """Types of the arguments and of the result of a method."""

    def __init__(self, method: Any) -> None:
        hints = get_type_hints(method, include_extras=True)
        self.result = hints.pop("return")
        self.arguments = tuple[tuple(hints.values())]  # type: ignore[misc]
        self.signature = inspect.signature(method)


METHODS = {name: _Method(method) for name, method in vars(Classrooms).items() if not name.startswith("_")}


def to_call(method: str, *arguments: object) -> bytes:
    """Encode the arguments of a method, defaults included."""
    bound = METHODS[method].signature.bind(None, *arguments)
    bound.apply_defaults()
    return msgspec.json.encode(bound.args[1:])


def call(store: Classrooms, method: str, arguments: bytes) -> bytes | Failure:
    """Call a method of a store with arguments from the network; returns its result as JSON."""
    if method not in METHODS or len(arguments) > MAX_CALL_BYTES:
        return Failure("Call")
    try:
        values = msgspec.json.decode(arguments, type=METHODS[method].arguments)
    except READ_ERRORS:
        return Failure("Call")
    try:
        return msgspec.json.encode(getattr(store, method)(*values))
    except tuple(_ERRORS.values()) as error:
        return Failure(type(error).__name__)


def result_of(method: str, body: bytes, *, failed: bool) -> Any:
    """Decode the result of a call.

    Args:
        method: Name of the method.
        body: Result of `call`, as JSON.
        failed: Whether it was a failure.

    Raises:
        Exception: The error that the store raised.
        READ_ERRORS: The body has another form.
    """
    if failed:
        name = msgspec.json.decode(body, type=Failure).error
        raise _ERRORS.get(name, ValueError)(name)
    return msgspec.json.decode(body, type=METHODS[method].result)
