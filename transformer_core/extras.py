"""Packages that few parts need: optional dependencies, imported where they are used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class MissingPackage(ModuleNotFoundError):
    """A package that one of the optional dependencies in pyproject.toml brings."""


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Name the optional dependency that brings a package, where an import inside the block fails.

    Raises:
        MissingPackage: The package is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        message = f"{error.name} is not installed: python -m pip install 'headlight[{name}]'"
        raise MissingPackage(message, name=error.name) from None
