"""How many requests an address may make."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from viz_app.serving.scheduling.token_bucket import TokenBucket

_MAX_ADDRESSES = 10_000


class RateLimit:
    """A token bucket for each address. Safe for threads.

    Args:
        per_second: Requests that are allowed lastingly.
        burst: Requests that are allowed at once.
        clock: Gives the time in seconds.
    """

    def __init__(self, per_second: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second, self._burst, self._clock = per_second, burst, clock
        self._buckets: dict[str, TokenBucket] = {}
        self._lock = threading.Lock()

    def allows(self, address: str) -> bool:
        """Whether an address may make one more request now."""
        with self._lock:
            bucket = self._buckets.pop(address, None) or TokenBucket(self._per_second, self._burst, self._clock)
            self._buckets[address] = bucket
            if len(self._buckets) > _MAX_ADDRESSES:
                del self._buckets[next(iter(self._buckets))]  # it has asked for nothing the longest
            return bucket.take_if_there()
