"""JSON that others wrote, as values of the types that are asked for: msgspec checks, and its errors name the field."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Meta

from transformer_core.files import CheckpointError
from transformer_core.manifest import read_object

Value = TypeVar("Value")
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_MOST_BYTES = 16 * 2**20  # of a file; the largest that ships has a hundredth of it
_LARGEST = 10**15
# JSON as Python reads it also has NaN, infinity and endless integers; none of these is within the bounds.
Count = Annotated[int, Meta(ge=0, le=_LARGEST)]
Number = Annotated[int, Meta(ge=-_LARGEST, le=_LARGEST)] | Annotated[float, Meta(ge=-_LARGEST, le=_LARGEST)]
Percent = Annotated[float, Meta(ge=0, le=100)]
Share = Annotated[float, Meta(ge=0, le=1)]
Nats = Annotated[float, Meta(ge=0, le=_LARGEST)]


def convert(value: object, kind: Any) -> Any:
    """A value of JSON as a `kind`: a Struct, an annotated type, an array of numbers, which cannot be written to.

    Raises:
        msgspec.ValidationError: It is none; the message names the field.
    """
    return msgspec.convert(value, kind, dec_hook=_array)


def converted(value: object, kind: Any) -> Any:
    """The same; None where it is none."""
    try:
        return convert(value, kind)
    except msgspec.ValidationError:
        return None


def read_json(path: Path, kind: type[Value]) -> Value:
    """A file as a Struct. Raises CheckpointError, which names file and field, for one that cannot be read."""
    return checked(path, read_object(path, _MOST_BYTES), kind)


def checked(path: Path, values: Mapping[str, Any], kind: type[Value]) -> Value:
    """What a file holds as a Struct. Raises CheckpointError, which names file and field."""
    try:
        found: Value = convert(values, kind)
    except msgspec.ValidationError as error:
        raise CheckpointError(path, str(error)) from error
    return found


class Parts:
    """The parts of a file by their paths; those that are not of their type are noted.

    Args:
        values: What the file holds.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self.unreadable: list[str] = []

    def get(self, kind: Any, *path: str) -> Any:
        """A part as a `kind`; None where it is missing, or noted because it is none."""
        value: Any = self._values
        for depth, name in enumerate(path):
            if not isinstance(value, Mapping):
                self.note(*path[:depth])
                return None
            if name not in value:
                return None
            value = value[name]
        found = converted(value, kind)
        if found is None:
            self.note(*path)
        return found

    def note(self, *path: str) -> None:
        """This part could not be read."""
        self.unreadable.append(".".join(path))


def _array(kind: Any, values: Any) -> npt.NDArray[Any]:
    """A list of numbers, as `npt.NDArray[...]` asks for it."""
    array = np.array(convert(values, list[float]), dtype=kind.__args__[1].__args__[0])
    array.flags.writeable = False
    return array
