"""Token bucket: a sustained rate and a burst."""

from __future__ import annotations

import time
from collections.abc import Callable


class TokenBucket:
    """Bucket that fills at a constant rate up to its size. Not safe for threads by itself.

    Args:
        per_second: Tokens added per second.
        burst: Tokens that it holds at most, and at the start.
        clock: Returns the time in seconds.
    """

    def __init__(self, per_second: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second, self._burst, self._clock = per_second, burst, clock
        self._left, self._last = float(burst), clock()

    def take(self, tokens: float = 1) -> float:
        """Take tokens even if there are too few; return the tokens left, negative for a debt."""
        self._fill()
        self._left -= tokens
        return self._left

    def try_take(self, tokens: float = 1) -> bool:
        """Take tokens unless there are too few; return whether it took them."""
        self._fill()
        if self._left < tokens:
            return False
        self._left -= tokens
        return True

    def _fill(self) -> None:
        now = self._clock()
        self._left, self._last = min(self._burst, self._left + self._per_second * (now - self._last)), now
