"""Short name of a value such as a figure: equal for equal content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

import numpy as np


def fingerprint(value: object) -> str:
    """Return 32 hexadecimal digits over everything in a value: its types, words and numbers, down to the last array.

    Args:
        value: Dataclasses, mappings, sequences, arrays and plain values, within each other. Anything else counts by its
            `repr`.
    """
    digest = hashlib.blake2b(digest_size=16)
    for part in _parts(value):
        digest.update(len(part).to_bytes(8, "little"))  # so that no two lists of parts read the same
        digest.update(part)
    return digest.hexdigest()


def _parts(value: object) -> Iterator[bytes | memoryview]:
    yield type(value).__qualname__.encode()
    if is_dataclass(value) and not isinstance(value, type):
        for each in fields(value):
            yield from _parts(getattr(value, each.name))
    elif isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufcSU":
        yield f"{value.dtype.str} {value.shape}".encode()
        yield np.ascontiguousarray(value).reshape(-1).view(np.uint8).data
    elif isinstance(value, Mapping):
        yield str(len(value)).encode()
        for name in sorted(value, key=repr):
            yield from _parts(name)
            yield from _parts(value[name])
    elif isinstance(value, list | tuple):
        yield str(len(value)).encode()
        for each in value:
            yield from _parts(each)
    else:
        yield repr(value).encode(errors="surrogatepass")
