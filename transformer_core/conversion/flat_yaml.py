"""The YAML that Marian writes: one level of keys, with a scalar or a list of scalars each.

Nothing is guessed: all values stay text. Vocabularies hold tokens that look like anything, from `null` to `- `.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Value = str | list[str]

_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_NAMED = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v"}


class YamlError(ValueError):
    """A line of another form."""


def read_flat(text: str) -> dict[str, Value]:
    """Keys and values, in order. Raises YamlError naming a line of another form, or a key that comes twice."""
    found: dict[str, Value] = {}
    for number, key, value in _entries(text):
        if key in found:
            raise YamlError(f"line {number}: {key[:40]!r} comes twice")
        found[key] = value
    return found


def _entries(text: str) -> Iterator[tuple[int, str, Value]]:
    key: str | None = None
    items: list[str] | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.rstrip("\r")
        if not line.strip() or line.lstrip().startswith("#") or line in ("---", "..."):
            continue
        if items is not None and key is not None and line.lstrip().startswith("- "):
            items.append(_scalar(line.lstrip()[2:].strip(), number))
            continue
        if items is not None and key is not None:
            yield number - 1, key, items
            key, items = None, None
        if line.startswith("? "):
            key = _scalar(line[2:], number)
            continue
        if key is not None and line.startswith(": "):
            yield number, key, _scalar(line[2:].strip(), number)
            key = None
            continue
        name, colon, value = line.rpartition(": ") if not line.endswith(":") else (line[:-1], ":", "")
        if key is not None or not colon or line[0] in " \t":
            raise YamlError(f"line {number} is of no form that Marian writes")
        key = _scalar(name, number)
        if value.strip():
            yield number, key, _value(value.strip(), number)
            key = None
        else:
            items = []
    if key is not None:
        yield text.count("\n") + 1, key, items or []


def _value(text: str, number: int) -> Value:
    if text.startswith("[") and text.endswith("]"):
        return [_scalar(part.strip(), number) for part in text[1:-1].split(",") if part.strip()]
    return _scalar(text, number)


def _scalar(text: str, number: int) -> str:
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) >= 2 and text[0] == text[-1] == '"':
        try:
            return _ESCAPE.sub(_unescaped, text[1:-1])
        except (ValueError, OverflowError) as error:
            raise YamlError(f"line {number}: {error}") from error
    if text.startswith(("&", "*", "!", "{")) and len(text) > 1 and text[1:2].isalnum():
        raise YamlError(f"line {number}: anchors, aliases and tags are not read")
    return text


def _unescaped(found: re.Match[str]) -> str:
    code = found[1]
    if len(code) > 1:
        return chr(int(code[1:], 16))
    return _NAMED.get(code, code)
