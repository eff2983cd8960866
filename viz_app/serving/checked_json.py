"""Convert foreign JSON to typed values: msgspec checks, and its errors name the field."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Meta

from transformer_core.storage.files import CheckpointError

Value = TypeVar("Value")
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# For a text that is no JSON, or not of the type: msgspec reads neither bytes that are no text nor endless brackets.
READ_ERRORS = (msgspec.DecodeError, UnicodeError, RecursionError)

_LARGEST = 10**15
# JSON as Python reads it also has NaN, infinity and endless integers; none of these is within the bounds.
Count = Annotated[int, Meta(ge=0, le=_LARGEST)]
Number = Annotated[int, Meta(ge=-_LARGEST, le=_LARGEST)] | Annotated[float, Meta(ge=-_LARGEST, le=_LARGEST)]
Percent = Annotated[float, Meta(ge=0, le=100)]
Share = Annotated[float, Meta(ge=0, le=1)]
Correlation = Annotated[float, Meta(ge=-1, le=1)]
Nats = Annotated[float, Meta(ge=0, le=_LARGEST)]


def converted(value: object, kind: Any) -> Any:
    """Convert a JSON value to a `kind`: a Struct, an annotated type, an array of numbers; None if it is not one."""
    try:
        return msgspec.convert(value, kind, dec_hook=_array)
    except (msgspec.ValidationError, UnicodeError):  # msgspec reads no half of a surrogate pair
        return None


def checked(path: Path, kind: type[Value], *parts: Mapping[str, Any] | None) -> Value:
    """Convert merged parts of a file to a Struct. Raises CheckpointError, which names file and field."""
    try:
        merged = {name: value for part in parts for name, value in (part or {}).items()}
        return msgspec.convert(merged, kind, dec_hook=_array)
    except (msgspec.ValidationError, UnicodeError) as error:
        raise CheckpointError(path, str(error)) from error


class Parts:
    """Parts of a file by path; a part of a wrong type is noted.

    Args:
        values: Content of the file.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self.unreadable: list[str] = []

    def get(self, kind: Any, *path: str) -> Any:
        """Return a part as a `kind`; None if it is missing, or of another type, which is noted."""
        value: Any = self._values
        for depth, name in enumerate(path):
            if not isinstance(value, Mapping):
                self.note(*path[:depth])
                return None
            if name not in value:
                return None
            value = value[name]
        entry = converted(value, kind)
        if entry is None:
            self.note(*path)
        return entry

    def note(self, *path: str) -> None:
        """Note that this part could not be read."""
        self.unreadable.append(".".join(path))


def _array(kind: Any, values: Any) -> npt.NDArray[Any]:
    """Convert a list of numbers to a read-only array of the type in `npt.NDArray[...]`."""
    array = np.array(msgspec.convert(values, list[float]), dtype=kind.__args__[1].__args__[0])
    array.flags.writeable = False
    return array
