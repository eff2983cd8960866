"""Ctrl-C and SIGTERM as a wish to stop, not as a death."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Wish:
    """Whether somebody wants the training to stop."""

    stop: bool = False


@contextmanager
def signals_as(wish: Wish) -> Iterator[None]:
    """Ctrl-C and SIGTERM set the wish; only the main thread can listen to them."""

    def stop(*_: object) -> None:
        wish.stop = True

    try:
        previous = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:
        yield
        return
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
