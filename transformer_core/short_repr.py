"""A `repr` of a few lines, however many weights a result has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any

# View of a result in a notebook, by MIME type; whoever can draw sets it. This package draws nothing.
notebook_view: Callable[[object], dict[str, str]] | None = None

_FIRST = 5  # elements of a sequence
_WIDTH = 100  # characters of a field


class ShortRepr:
    """A dataclass whose `repr` has a line for each field that is not empty.

    Arrays show type and shape, sequences their length and first elements, other dataclasses their first field.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.__repr__ = _lines  # type: ignore[method-assign]  # `dataclass` would write one with all numbers

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Return the view of a notebook: the text, and what `notebook_view` adds."""
        return {"text/plain": repr(self), **(notebook_view(self) if notebook_view else {})}


def _lines(self: Any) -> str:
    values = {each.name: _short(getattr(self, each.name)) for each in fields(self) if each.repr}
    lines = [f"  {name}: {text[:_WIDTH]}{'...' * (len(text) > _WIDTH)}" for name, text in values.items() if text]
    return "\n".join([type(self).__name__, *lines])


def _short(value: Any) -> str:
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return f"{value.dtype} {tuple(value.shape)}"
    if value is None or (isinstance(value, str | Mapping | list | tuple) and not value):
        return ""
    if isinstance(value, Mapping):
        named = (f"{key}: {_short(each)}" for key, each in islice(value.items(), _FIRST))
        return f"{{{', '.join(named)}{', ...' * (len(value) > _FIRST)}}}"
    if isinstance(value, list | tuple):
        first = ", ".join(map(_short, islice(value, _FIRST)))
        return f"{len(value)}: {first}{', ...' * (len(value) > _FIRST)}"
    if is_dataclass(value):
        return f"{type(value).__name__} of {_short(getattr(value, fields(value)[0].name))}"
    return repr(value[:_WIDTH] if isinstance(value, str) else value)
