"""Rate limit for each party."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from viz_app.serving.request_origin import party
from viz_app.serving.token_bucket import TokenBucket

_MAX_PARTIES = 10_000


class RateLimit:
    """A token bucket for each party. Safe for threads.

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
        """Return whether the party of an address may make one more request now, and count it."""
        asks = party(address)
        with self._lock:
            bucket = self._buckets.pop(asks, None) or TokenBucket(self._per_second, self._burst, self._clock)
            self._buckets[asks] = bucket
            if len(self._buckets) > _MAX_PARTIES:
                del self._buckets[next(iter(self._buckets))]  # the one idle for longest
            return bucket.try_take()
