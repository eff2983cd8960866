"""Values of a foreign configuration, read with bounds and named in every complaint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from transformer_core.config import Activation
from transformer_core.conversion.foreign_folder import ConversionError

_ACTIVATIONS: dict[str, Activation] = {"relu": "relu", "gelu": "gelu", "swish": "swish", "silu": "swish"}


class Options:
    """A foreign configuration.

    Args:
        family: What the model was taken for.
        values: Options of the model.
        generation: Options of its search, which come before those of the same name in `values`.
    """

    def __init__(self, family: str, values: Mapping[str, Any], generation: Mapping[str, Any] | None = None) -> None:
        self.family, self.values = family, values
        self.search = {**values, **{name: value for name, value in (generation or {}).items() if value is not None}}

    def fail(self, message: str) -> ConversionError:
        """The error that says what the model was taken for."""
        return ConversionError(f"taken for {self.family}: {message}")

    def number(self, name: str, default: int | None = None) -> int:
        """A whole number from 0 on. Raises ConversionError; without a default also where there is none."""
        return self._number(self.values, name, default)

    def search_number(self, name: str, default: int | None = None) -> int:
        """As `number`, of an option of the search."""
        return self._number(self.search, name, default)

    def _number(self, values: Mapping[str, Any], name: str, default: int | None) -> int:
        value = values.get(name)
        if value is None and default is not None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
            raise self.fail(f"{name} is {_short(value)}, but must be a whole number from 0 on")
        return value

    def real(self, name: str, default: float, values: Mapping[str, Any] | None = None) -> float:
        """A number, finite."""
        value = (self.values if values is None else values).get(name, default)
        value = default if value is None else value
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e9:
            raise self.fail(f"{name} is {_short(value)}, but must be a number")
        return float(value)

    def flag(self, name: str, default: bool) -> bool:
        """True or false."""
        value = self.values.get(name)
        value = default if value is None else value
        if not isinstance(value, bool):
            raise self.fail(f"{name} is {_short(value)}, but must be true or false")
        return value

    def check(self, **expected: bool) -> None:
        """Older files name options that today's transformers takes for granted. Raises ConversionError for others."""
        for name, value in expected.items():
            if self.values.get(name) not in (None, value):
                raise self.fail(f"{name} is {_short(self.values[name])}, but only {value} is supported")

    def equal(self, first: str, second: str) -> int:
        """Two numbers that must agree, such as the layers of encoder and decoder."""
        one, other = self.number(first), self.number(second)
        if one != other:
            raise self.fail(f"{first} is {one} and {second} is {other}; only models where both are equal are supported")
        return one

    def activation(self, name: str) -> Activation:
        """Of the feed-forward networks."""
        value = self.values.get(name)
        if not isinstance(value, str) or value not in _ACTIVATIONS:
            raise self.fail(f"{name} is {_short(value)}, but must be one of {', '.join(_ACTIVATIONS)}")
        return _ACTIVATIONS[value]


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
