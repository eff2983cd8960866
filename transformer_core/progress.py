"""Progress bars on standard error while it is a terminal; nothing otherwise, or where tqdm is not installed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

Item = TypeVar("Item")


class Bar(Protocol):
    """What a progress bar can do."""

    def update(self, n: float = 1) -> object:
        """Say that n more units are done."""

    def set_postfix_str(self, s: str, refresh: bool = True) -> object:
        """Show a short text behind the bar."""


class _Silent:
    def update(self, n: float = 1) -> None:
        """Do nothing."""

    def set_postfix_str(self, s: str, refresh: bool = True) -> None:
        """Do nothing."""


@contextmanager
def progress_bar(*, unit: str, total: int | None = None, done: int = 0, shown: bool = True) -> Iterator[Bar]:
    """A bar for the time of the block.

    Args:
        unit: What is counted, such as "step".
        total: Units in total; None if unknown.
        done: Units that were done before.
        shown: False for no bar, as in all processes but the first of a training.
    """
    if not shown:
        yield _Silent()
        return
    try:
        from tqdm import tqdm
    except ModuleNotFoundError:  # training needs no more than the core's own dependencies
        yield _Silent()
        return
    with tqdm(total=total, initial=done, unit=unit, disable=None) as bar:
        yield bar


def tracked(items: Iterable[Item], unit: str) -> Iterator[Item]:
    """The same items, with a bar that counts them."""
    with progress_bar(unit=unit) as bar:
        for item in items:
            yield item
            bar.update()


def expect(should_stop: Callable[[], bool] | None, checks: int) -> None:
    """Tell whoever watches a computation how many more times it will ask whether to stop, if they can hear it.

    Args:
        should_stop: What is asked; it hears when it has a method `expect`.
        checks: How many times, about.
    """
    hears: Callable[[int], None] | None = getattr(should_stop, "expect", None)
    if hears is not None:
        hears(checks)
