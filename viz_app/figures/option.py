"""Declaration of an option: one place for its form, its bounds, its flag and its name in an address.

    confidence: bool = option(False, Switch(), about="tree: tint constituents by their probability.", views=("tree",))

A frozen dataclass has its options as fields. Command line, address, widgets and the command that makes a
figure again walk them with `declared`, `to_query` and `from_query`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

MAX_NUMBER = 9_999  # four digits, as in an address
_DECLARED: dict[type, dict[str, Option]] = {}


class Form:
    """Notation and bounds of an option's values; errors leave the option's name out."""

    type: type = str  # of the argument on the command line
    metavar = "TEXT"

    def loads(self, text: str) -> Any:
        """Read a value from an address or a command line. Raises ValueError."""
        return text

    def parse(self, argument: Any) -> Any:
        """Read what a command line has made of an argument. Raises ValueError."""
        return self.loads(argument)

    def dumps(self, value: Any) -> str:
        """Write a value for an address."""
        return str(value)

    def argument(self, value: Any) -> str:
        """Write a value for a command line."""
        return self.dumps(value)

    def check(self, value: Any) -> None:
        """Raise ValueError for a value that is not allowed."""

    def mended(self, value: Any) -> Any:
        """Return the nearest allowed value. Raises ValueError where there is none."""
        self.check(value)
        return value


@dataclass(frozen=True)
class Choice(Form):
    """One of several values."""

    choices: tuple[Any, ...]
    metavar = "NAME"

    def loads(self, text: str) -> Any:
        """Read a choice."""
        named = {str(choice): choice for choice in self.choices}
        unknown = int(text) if any(isinstance(each, int) for each in self.choices) and text.isdecimal() else text
        return named.get(text, unknown)

    def check(self, value: Any) -> None:
        """Raise ValueError for another value."""
        # 1 == True in Python, but 1 and true are not the same JSON.
        if not any(type(value) is type(choice) and value == choice for choice in self.choices):
            allowed = ", ".join(repr(choice) if choice == "" else str(choice) for choice in self.choices)
            raise ValueError(f"is {value!r}, but must be one of {allowed}")


@dataclass(frozen=True)
class Switch(Form):
    """True or false; in an address one of two words."""

    on: str = "on"
    off: str = "off"
    type = bool
    metavar = "true|false"

    def loads(self, text: str) -> bool:
        """Read one of the words. Raises ValueError for another."""
        if text not in (self.on, self.off):
            raise ValueError(f"is {text!r}, but must be {self.on} or {self.off}")
        return text == self.on

    def parse(self, argument: bool) -> bool:
        """Return the value."""
        return argument

    def dumps(self, value: bool) -> str:
        """Write a word."""
        return self.on if value else self.off

    def argument(self, value: bool) -> str:
        """Write true or false."""
        return str(value).lower()

    def check(self, value: Any) -> None:
        """Raise ValueError for anything else."""
        Choice((True, False)).check(value)


@dataclass(frozen=True)
class Number(Form):
    """A whole number; `first` is what 0 in code is called outside, 1 for layers and heads."""

    first: int = 0
    low: int = 0
    high: int = MAX_NUMBER
    type = int
    metavar = "N"

    def loads(self, text: str) -> int:
        """Read a number of at most four digits. Raises ValueError."""
        if not (str(text).isascii() and str(text).isdigit() and len(str(text)) <= 4):
            raise ValueError(f"is {text!r}, but must be a whole number")
        return int(text) - self.first

    def parse(self, argument: int) -> int:
        """Count from 0."""
        return argument - self.first

    def dumps(self, value: int) -> str:
        """Write the number as it is called outside."""
        return str(value + self.first)

    def check(self, value: Any) -> None:
        """Raise ValueError for a number out of bounds."""
        number, low, high = value + self.first, self.low + self.first, self.high
        if number < low:
            raise ValueError(f"is {number}, but must be {low} or more")
        if number > high:
            raise ValueError(f"is {number}, but must be {high} or less")


@dataclass(frozen=True)
class Numbers(Form):
    """Rising whole numbers; an address or a page may hold `kept` of them, a command line `limit`."""

    first: int = 0
    low: int = 0
    limit: int = 64
    kept: int = 64
    metavar = "LIST"

    def loads(self, text: str) -> tuple[int, ...]:
        """Read numbers with commas. Raises ValueError."""
        one = Number(self.first)
        try:
            return tuple(one.loads(part) for part in text.split(",")[: self.limit + 1])
        except ValueError:
            raise ValueError(f"is {text!r}, but must be numbers from 1 on, as 1,3") from None

    def dumps(self, value: tuple[int, ...]) -> str:
        """Write them with commas."""
        return ",".join(str(number + self.first) for number in value)

    def check(self, value: tuple[int, ...]) -> None:
        """Raise ValueError for numbers that do not rise, are too small, or too many."""
        if not value or min(value) < self.low or list(value) != sorted(set(value)):
            raise ValueError(f"is {self.dumps(value)!r}, but must be increasing numbers from 1, such as 1,3")
        if len(value) > self.limit:
            raise ValueError(f"has more than {self.limit} numbers, which is the most")

    def mended(self, value: tuple[int, ...]) -> tuple[int, ...]:
        """Return those that are allowed, in order. Raises ValueError where there is none."""
        allowed = tuple(sorted({number for number in value if number >= self.low}))[: self.kept]
        self.check(allowed)
        return allowed


@dataclass(frozen=True)
class Real(Form):
    """A finite number within bounds."""

    low: float
    high: float
    type = float

    def loads(self, text: str) -> float:
        """Read a number. Raises ValueError."""
        return float(text)

    def parse(self, argument: float) -> float:
        """Return the value."""
        return argument

    def dumps(self, value: float) -> str:
        """Write six digits."""
        return f"{value:g}"

    def argument(self, value: float) -> str:
        """Write every digit."""
        return str(value)

    def check(self, value: Any) -> None:
        """Raise ValueError for a number out of bounds."""
        if not (is_number(value) and self.low <= value <= self.high):
            raise ValueError(f"is {value}, but must be between {self.low} and {self.high}")


@dataclass(frozen=True)
class Text(Form):
    """A text of limited length, without superfluous spaces."""

    limit: int

    def loads(self, text: str) -> str:
        """Read a text."""
        return " ".join(text.split())

    def check(self, value: str) -> None:
        """Raise ValueError for an empty or a long text."""
        if not 0 < len(value) <= self.limit:
            raise ValueError(f"has {len(value)} characters, but must have 1 to {self.limit}")


@dataclass(frozen=True)
class NumberOrText(Form):
    """A position, counted from 1 outside, or a text of limited length."""

    limit: int
    metavar = "N|TEXT"

    def loads(self, text: str) -> int | str:
        """Read a position, or else a text."""
        try:
            return Number(first=1).loads(text)
        except ValueError:
            return Text(self.limit).loads(text)

    def dumps(self, value: int | str) -> str:
        """Write a position, or the text."""
        return value if isinstance(value, str) else str(value + 1)

    def check(self, value: int | str) -> None:
        """Raise ValueError for a position below the first, or a text that is empty or long."""
        form: Form = Text(self.limit) if isinstance(value, str) else Number(first=1)
        form.check(value)


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option.

    Args:
        name: Of its field.
        default: Of its field.
        form: How values are written, and their bounds.
        about: Help on the command line.
        metavar: Name of its value on the command line, if not the form's.
        key: Its name in an address; "" for none.
        always: Whether an address names it even when it is at its default.
        views: The views that have it, besides those that list it themselves.
    """

    name: str = ""
    default: Any = None
    form: Form
    about: str = ""
    metavar: str = ""
    key: str | None = None
    always: bool = False
    views: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        """Its name on the command line."""
        return flag(self.name)

    @property
    def in_address(self) -> str:
        """Its name in an address."""
        return self.name if self.key is None else self.key

    def checked(self, value: Any) -> Any:
        """Return the value. Raises ValueError with the option's name for one that is not allowed."""
        if value is not None or self.default is not None:
            try:
                self.form.check(value)
            except ValueError as error:
                raise ValueError(f"{self.name} {error}") from None
        return value


def option(default: Any, form: Form, **declared: Any) -> Any:
    """Declare an option as a field of a dataclass; see `Option`."""
    return field(default=default, metadata={"option": Option(default=default, form=form, **declared)})


def declared(kind: type) -> dict[str, Option]:
    """Return the options of a dataclass, by the names of its fields."""
    if kind not in _DECLARED:
        declarations = {each.name: each.metadata["option"] for each in fields(kind) if "option" in each.metadata}
        _DECLARED[kind] = {name: replace(each, name=name) for name, each in declarations.items()}
    return _DECLARED[kind]


def flag(name: str) -> str:
    """Return the flag of a field on the command line."""
    return f"--{name.replace('_', '-')}"


def to_query(kind: type, values: Any) -> dict[str, str | None]:
    """Write the options of a dataclass as URL parameters; None for one that is at its default.

    Args:
        kind: The dataclass.
        values: An object with these fields.
    """
    params: dict[str, str | None] = {}
    for name, each in declared(kind).items():
        if each.in_address:
            value = getattr(values, name)
            silent = value is None or (value == each.default and not each.always)
            params[each.in_address] = None if silent else each.form.dumps(value)
    return params


def from_query(kind: type, params: Mapping[str, str]) -> dict[str, Any]:
    """Read the options of a dataclass from URL parameters; what makes no sense is left out."""
    values: dict[str, Any] = {}
    for name, each in declared(kind).items():
        if each.in_address in params:
            try:
                values[name] = each.form.mended(each.form.loads(params[each.in_address]))
            except ValueError:
                continue
    return values


def mended(kind: type, values: Any) -> dict[str, Any]:
    """Return the options of a dataclass, with the default for each value that is not allowed."""
    allowed: dict[str, Any] = {}
    for name, each in declared(kind).items():
        value = getattr(values, name)
        try:
            allowed[name] = value if value is None or value == each.default else each.form.mended(value)
        except ValueError:
            allowed[name] = each.default
    return allowed


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number, and no truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
