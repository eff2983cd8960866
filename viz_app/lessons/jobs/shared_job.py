"""Work that all sessions share: one run at a time, in its own thread, until no session watches it.

It rests between its slices, and gives way to translations on the same server.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import Literal

from viz_app.serving.scheduling.background_throttle import PATIENCE, BackgroundThrottle, Busy

State = Literal["idle", "running", "done", "stopped", "left", "failed"]

_log = logging.getLogger(__name__)


class SharedJob:
    """Shared job; a subclass says how it runs and what it keeps.

    Args:
        name: What the log calls it.
        pace: Seconds from one slice to the next, at least.
        patience: Seconds without a watcher after which a run ends.
        clock: Tells the time.
        pause: Waits.
    """

    def __init__(
        self,
        name: str,
        pace: float,
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._name, self._pace = name, pace
        self.throttle = BackgroundThrottle(patience, clock, pause)
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self.state: State = "idle"
        self.number = 0  # of the last run, from 1
        self.thread: threading.Thread | None = None

    def _start(self, begin: Callable[[], Iterator[object]], slices: int, busy: Busy) -> bool:
        """Start a run, unless one is going on. Returns whether this call started it.

        Args:
            begin: Makes room for what the run leaves, and gives an iterator that does a slice of it at each step.
            slices: How many steps it has.
            busy: Whether the server has something better to do; slices wait for that, a second each at most.
        """
        with self._lock:
            if self.state == "running":
                return False
            self.throttle.watch()
            self._stopping.clear()
            self.state, self.number = "running", self.number + 1
            self.thread = threading.Thread(target=self._run, args=(begin(), slices, busy), name=self._name, daemon=True)
            self.thread.start()
            return True

    def stop(self) -> None:
        """Stop the run for all sessions; its results stay."""
        self._stopping.set()

    def _run(self, work: Iterator[object], slices: int, busy: Busy) -> None:
        try:
            for _ in range(slices):
                if self._stopping.is_set() or self.throttle.unwatched:
                    self.state = "stopped" if self._stopping.is_set() else "left"
                    return
                self.throttle.yield_to(busy)
                with self.throttle.work_slice(self._pace):
                    next(work)
            self.state = "done"
        except Exception:
            self.state = "failed"
            _log.exception("%s failed", self._name)
