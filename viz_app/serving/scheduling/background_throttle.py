"""Throttle background work, such as live training, so that translations on the same server stay fast.

throttle = BackgroundThrottle()
throttle.watch()                     # a page shows the work
while not throttle.unwatched:
    throttle.yield_to(busy)          # translations go first
    with throttle.work_slice(0.1):   # then a little work, and a pause
        ...
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

REST = 2.0  # seconds of pause for each second of processor time, at least
YIELD = 0.02  # seconds between two checks whether a translation runs
MAX_YIELDS = 50  # checks before one slice of work, so that it ends on a busy server too
PATIENCE = 10.0  # seconds without a watcher until the work stops

Busy = Callable[[], bool]


def never_busy() -> bool:
    """Return False: the `busy` of a server without translations."""
    return False


class BackgroundThrottle:
    """Throttle for one kind of background work that all sessions share.

    Args:
        patience: Seconds without a watcher until the work stops.
        clock: Returns the time in seconds.
        pause: Waits for a number of seconds.
    """

    def __init__(
        self,
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._patience, self._clock, self._pause = patience, clock, pause
        self.last_watched = 0.0  # time of the last `watch`

    def watch(self) -> None:
        """Note that a page shows the work now."""
        self.last_watched = self._clock()

    @property
    def unwatched(self) -> bool:
        """Whether no page has shown the work for `patience` seconds."""
        return self._clock() - self.last_watched > self._patience

    def yield_to(self, busy: Busy) -> None:
        """Wait while the server is busy, a second at most."""
        for _ in range(MAX_YIELDS):
            if not busy():
                return
            self._pause(YIELD)

    @contextmanager
    def work_slice(self, pace: float) -> Iterator[None]:
        """Run the block, then pause in proportion to the processor time that it took.

        Args:
            pace: Seconds that work and pause take together, at least.
        """
        started, before = time.monotonic(), time.thread_time()
        yield
        worked = time.thread_time() - before  # without the time of other processes
        self._pause(max(pace - (time.monotonic() - started), REST * worked))
