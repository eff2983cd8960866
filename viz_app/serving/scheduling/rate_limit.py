"""Rate limit for each address."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from viz_app.serving.token_bucket import TokenBucket

_MAX_ADDRESSES = 10_000


class RateLimit:
    """A token bucket for each address. Safe for threads.

    Args:
        per_second: Sustained requests per second.
        burst: Requests allowed at once.
        clock: Returns the time in seconds.
    """

    def __init__(self, per_second: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second, self._burst, self._clock = per_second, burst, clock
        self._buckets: dict[str, TokenBucket] = {}
        self._lock = threading.Lock()

    def allows(self, address: str) -> bool:
        """Return whether an address may make one more request now, and count it."""
        with self._lock:
            bucket = self._buckets.pop(address, None) or TokenBucket(self._per_second, self._burst, self._clock)
            self._buckets[address] = bucket
            if len(self._buckets) > _MAX_ADDRESSES:
                del self._buckets[next(iter(self._buckets))]  # the one idle for longest
            return bucket.try_take()
