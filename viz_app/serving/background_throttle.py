"""How work that people watch behaves on a server that translates at the same time.

manners = Manners()
manners.watch()                # somebody looks
while not manners.alone:
    manners.give_way(busy)     # translations go first
    with manners.unit(0.1):    # then a little work, and a rest
        ...
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

REST = 2.0  # seconds of rest for each second of the processor, at least
YIELD = 0.02  # seconds between two looks whether a translation is at work
MOST_YIELDS = 50  # of them before one unit of work, so that it comes to its end on a busy server
PATIENCE = 10.0  # seconds without a watcher after which work stops

Busy = Callable[[], bool]


def idle() -> bool:
    """A server that has nothing better to do."""
    return False


class Manners:
    """Of one kind of work that all sessions share.

    Args:
        patience: Seconds without a watcher after which it stops.
        clock: Tells the time.
        pause: Waits.
    """

    def __init__(
        self,
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._patience, self._clock, self._pause = patience, clock, pause
        self.watched = 0.0  # when somebody last did

    def watch(self) -> None:
        """Somebody looks."""
        self.watched = self._clock()

    @property
    def alone(self) -> bool:
        """Whether nobody has looked for a while."""
        return self._clock() - self.watched > self._patience

    def give_way(self, busy: Busy) -> None:
        """Wait while the server has something better to do, a second at most."""
        for _ in range(MOST_YIELDS):
            if not busy():
                return
            self._pause(YIELD)

    @contextmanager
    def unit(self, pace: float) -> Iterator[None]:
        """A little work, then a rest in proportion to it.

        Args:
            pace: Seconds that work and rest take together, at least.
        """
        started, before = time.monotonic(), time.thread_time()
        yield
        worked = time.thread_time() - before  # not the time for which others had the processor
        self._pause(max(pace - (time.monotonic() - started), REST * worked))
