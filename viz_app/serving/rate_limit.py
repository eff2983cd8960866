"""How many requests an address may make."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

_MOST_ADDRESSES = 10_000


class RateLimit:
    """A token bucket for each address. Safe for threads.

    Args:
        per_second: Requests that are allowed lastingly.
        burst: Requests that are allowed at once.
        clock: Gives the time in seconds.
    """

    def __init__(self, per_second: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second, self._burst, self._clock = per_second, burst, clock
        self._buckets: dict[str, tuple[float, float]] = {}  # tokens, and when there were so many
        self._lock = threading.Lock()

    def allows(self, address: str) -> bool:
        """Whether an address may make one more request now."""
        with self._lock:
            now = self._clock()
            tokens, last = self._buckets.pop(address, (self._burst, now))
            tokens = min(self._burst, tokens + self._per_second * (now - last))
            allowed = tokens >= 1
            self._buckets[address] = (tokens - 1 if allowed else tokens, now)
            if len(self._buckets) > _MOST_ADDRESSES:
                del self._buckets[next(iter(self._buckets))]  # it has asked for nothing the longest
            return allowed
