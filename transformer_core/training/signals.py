"""Ctrl-C, SIGTERM and the end of the terminal stop a training at its next step instead of killing it."""

from __future__ import annotations

import os
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
    """Let signals set the flag inside the block; in another thread than the main one nothing changes."""
    hang_up = getattr(signal, "SIGHUP", None)
    terminals = [descriptor for descriptor in (1, 2) if os.isatty(descriptor)]

    def stop(number: int, _: object) -> None:
        flag.requested = True
        for descriptor in terminals if number == hang_up else ():
            # A line to a terminal that is gone would end the training before it is saved.
            os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)

    numbers = [signal.SIGINT, signal.SIGTERM]
    if hang_up is not None and signal.getsignal(hang_up) is signal.SIG_DFL:  # nohup ignores it
        numbers.append(hang_up)
    try:
        previous = {number: signal.signal(number, stop) for number in numbers}
    except ValueError:
        yield
        return
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
