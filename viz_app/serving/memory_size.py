"""Memory of a cached value."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass


def memory_size(value: object) -> int:
    """Return the bytes of a value and of its parts.

    Args:
        value: Nested dataclasses, mappings, sequences, sets, arrays, tensors and plain values. An object with
            `nbytes` counts by it, any other by its own size.
    """
    nbytes = getattr(value, "nbytes", None)
    if isinstance(nbytes, int):
        return nbytes
    if isinstance(value, Mapping):
        return sys.getsizeof(value) + sum(memory_size(part) for pair in value.items() for part in pair)
    if isinstance(value, list | tuple | AbstractSet):
        if set(map(type, value)) <= {int, float}:  # of thousands of numbers
            return sys.getsizeof(value) + len(value) * sys.getsizeof(0.0)
        return sys.getsizeof(value) + sum(map(memory_size, value))
    if is_dataclass(value):
        return sys.getsizeof(value) + sum(memory_size(getattr(value, each.name)) for each in fields(value))
    return sys.getsizeof(value)
