"""Finds what a folder of modules offers, so that one more file in it is one more, with nothing else to edit."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from importlib import import_module
from typing import TypeVar

T = TypeVar("T")


def registry(
    package: str, attribute: str, kind: type[T], name: Callable[[T], str], order: Callable[[T], int]
) -> dict[str, T]:
    """Return the objects that modules of a package have under one attribute, alone or in a tuple, by name and in order.

    Modules without the attribute hold what the others share. The package may still be importing.

    Raises:
        TypeError: A module offers something else.
        ValueError: Two modules offer the same name.
    """
    found: dict[str, T] = {}
    for module in pkgutil.iter_modules(import_module(package).__path__):
        offered = getattr(import_module(f"{package}.{module.name}"), attribute, ())
        for each in offered if isinstance(offered, tuple) else (offered,):
            if not isinstance(each, kind):
                raise TypeError(f"{attribute} of {package}.{module.name} is {each!r}, but must be a {kind.__name__}")
            if name(each) in found:
                raise ValueError(f"{package}.{module.name} offers {name(each)!r}, which another module offers already")
            found[name(each)] = each
    return dict(sorted(found.items(), key=lambda item: order(item[1])))
