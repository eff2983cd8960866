"""Ctrl-C and SIGTERM stop a training at its next step instead of killing it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class StopFlag:
    """Whether a stop was requested."""

    requested: bool = False


@contextmanager
def handle_signals(flag: StopFlag) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM set the flag inside the block; in another thread than the main one nothing changes."""

    def stop(*_: object) -> None:
        flag.requested = True

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
