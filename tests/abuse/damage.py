"""Documents and files with damage: what a case of the fuzzing changes, as plain values that JSON can hold."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

NUMBERS = (-1, 0, 1, 2, 255, 256, 4_001, 65_536, 10**6, 10**9, 2**31, 2**53, 2**63, 10**30, 10**400)
FLOATS = (0.5, -0.0, 1e-320, 1e15, 1e308, float("nan"), float("inf"), float("-inf"))
TEXTS = ("", " ", "\x00", "\ud800", "\ufeffx", "..", "../x", "/etc/passwd", "a/b/c", "CON", "=1+1", "<b>", "0" * 64)
DTYPES = ("F32", "F64", "BF16", "I64", "U8", "BOOL", "F8_E4M3", "F8_E8M0", "F4", "C64")

DEEP = b"[" * 90_000 + b"]" * 90_000

leaves: SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(NUMBERS)
    | st.sampled_from(FLOATS)
    | st.sampled_from((*TEXTS, *DTYPES))
)
values: SearchStrategy[Any] = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=6,
)

# Numbers lead down into a document; then a value is put there (one), added by its name (two), or taken away (none).
_steps = st.lists(st.integers(0, 63), max_size=6)
edits: SearchStrategy[list[Any]] = st.lists(
    st.tuples(
        _steps, st.just([]) | st.tuples(values) | st.tuples(st.text(max_size=12) | st.sampled_from(TEXTS), values)
    ),
    max_size=4,
)
# Of a document and of its bytes: before which bracket a deep value stands, exchanged bytes, the length that is left.
damages: SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"edits": edits},
    optional={
        "deep": st.integers(0, 8),
        "flips": st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 255)), max_size=4),
        "length": st.integers(0, 2**20),
    },
)


def edited(document: Any, edits: list[Any]) -> Any:
    """A copy of a document with edits."""
    document = copy.deepcopy(document)
    for steps, result in edits:
        parent: Any = None
        key: Any = None
        here = document
        for step in steps:
            keys = list(here) if isinstance(here, dict) else list(range(len(here))) if isinstance(here, list) else []
            if not keys:
                break
            parent, key = here, keys[step % len(keys)]
            here = parent[key]
        if len(result) == 2 and isinstance(here, dict):
            here[result[0]] = result[1]
        elif parent is None:
            document = result[-1] if result else None
        elif result:
            parent[key] = result[-1]
        else:
            del parent[key]
    return document


def damaged(data: bytes, case: dict[str, Any]) -> bytes:
    """Bytes with some exchanged, and cut."""
    changed = bytearray(data)
    for at, byte in case.get("flips", []):
        if changed:
            changed[at % len(changed)] = byte
    return bytes(changed[: case.get("length", len(changed))])


def damaged_json(document: Any, case: dict[str, Any]) -> bytes:
    """The bytes of a document with its edits, and with damage of its bytes."""
    text = json.dumps(edited(document, case["edits"])).encode()
    *before, after = text.split(b"}", case.get("deep", -1) + 1)
    if before:
        before[-1] += b',"deep":' + DEEP
        text = b"}".join([*before, after])
    return damaged(text, case)
