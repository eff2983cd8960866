"""Validated values of a foreign configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from transformer_core.config import Activation
from transformer_core.conversion.foreign_folder import ConversionError

_ACTIVATIONS: dict[str, Activation] = {"relu": "relu", "gelu": "gelu", "swish": "swish", "silu": "swish"}
# Type of an option, and what an error says is allowed.
_NUMBER = Annotated[int, Meta(ge=0, lt=2**31)], "a whole number from 0 on"
_REAL = Annotated[float, Meta(gt=-1e9, lt=1e9)], "a number"
_FLAG = bool, "true or false"
_ACTIVATION = Literal["relu", "gelu", "swish", "silu"], f"one of {', '.join(_ACTIVATIONS)}"


class Options:
    """A foreign configuration; its methods raise ConversionError naming option, value and what is allowed.

    Args:
        family: The recognised family.
        values: Options of the model.
        generation: Options of its search, which override options of the same name in `values`.
    """

    def __init__(self, family: str, values: Mapping[str, Any], generation: Mapping[str, Any] | None = None) -> None:
        self.family, self.values = family, values
        self.search = {**values, **{name: value for name, value in (generation or {}).items() if value is not None}}

    def fail(self, message: str) -> ConversionError:
        """Return the error, which names the family."""
        return ConversionError(f"taken for {self.family}: {message}")

    def _read(self, values: Mapping[str, Any], name: str, kind: tuple[Any, str], default: object = None) -> Any:
        value = values.get(name)
        if value is None and default is not None:
            return default
        try:
            return msgspec.convert(value, kind[0])
        except msgspec.ValidationError:
            raise self.fail(f"{name} is {_short(value)}, but must be {kind[1]}") from None

    def number(self, name: str, default: int | None = None) -> int:
        """Return a whole number from 0 on; without a default it is required."""
        return int(self._read(self.values, name, _NUMBER, default))

    def search_number(self, name: str, default: int | None = None) -> int:
        """Return a whole number among the options of the search; see `number`."""
        return int(self._read(self.search, name, _NUMBER, default))

    def real(self, name: str, default: float, values: Mapping[str, Any] | None = None) -> float:
        """Return a finite number."""
        return float(self._read(self.values if values is None else values, name, _REAL, default))

    def flag(self, name: str, default: bool) -> bool:
        """Return true or false."""
        return bool(self._read(self.values, name, _FLAG, default))

    def activation(self, name: str) -> Activation:
        """Return the activation of the feed-forward networks."""
        return _ACTIVATIONS[self._read(self.values, name, _ACTIVATION)]

    def check(self, **expected: bool) -> None:
        """Check options that only older files name; today's transformers implies their values."""
        for name, value in expected.items():
            if self.values.get(name) not in (None, value):
                raise self.fail(f"{name} is {_short(self.values[name])}, but only {value} is supported")

    def equal(self, first: str, second: str) -> int:
        """Return the common value of two numbers, such as the layers of encoder and decoder."""
        one, other = self.number(first), self.number(second)
        if one != other:
            raise self.fail(f"{first} is {one} and {second} is {other}; only models where both are equal are supported")
        return one


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
