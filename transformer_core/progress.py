"""Progress bars on standard error while it is a terminal; nothing otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias, TypeVar

from tqdm import tqdm

Bar: TypeAlias = "tqdm[Any]"
Item = TypeVar("Item")


def progress_bar(*, unit: str, total: int | None = None, done: int = 0, shown: bool = True) -> Bar:
    """Open a bar for the time of a `with` block.

    Args:
        unit: Unit of the count, such as "step".
        total: Units in total; None if unknown.
        done: Units that were done before.
        shown: False for no bar, as in all processes but the first of a training.
    """
    return tqdm(total=total, initial=done, unit=unit, disable=None if shown else True)


def tracked(items: Iterable[Item], unit: str) -> Iterator[Item]:
    """Yield the items, with a bar that counts them."""
    yield from tqdm(items, unit=unit, disable=None)


def expect(should_stop: Callable[[], bool] | None, checks: int) -> None:
    """Report the expected number of `should_stop` calls, if the callback can show progress.

    Args:
        should_stop: Shows progress if it has a method `expect`.
        checks: Number of calls, about.
    """
    expected: Callable[[int], None] | None = getattr(should_stop, "expect", None)
    if expected is not None:
        expected(checks)
