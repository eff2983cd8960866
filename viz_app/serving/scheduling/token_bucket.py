"""How much something may be done: so often lastingly, and so often at once."""

from __future__ import annotations

import time
from collections.abc import Callable


class TokenBucket:
    """Fills with so many tokens a second, up to a number. Not safe for threads by itself.

    Args:
        per_second: Tokens that come.
        most: Tokens that it holds, as at the start.
        clock: Gives the time in seconds.
    """

    def __init__(self, per_second: float, most: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second, self._most, self._clock = per_second, most, clock
        self._left, self._last = float(most), clock()

    def take(self, tokens: float = 1) -> float:
        """Take tokens, also where there are too few; returns what is left, below 0 what is owed."""
        self._fill()
        self._left -= tokens
        return self._left

    def take_if_there(self, tokens: float = 1) -> bool:
        """Take tokens, or none where there are too few; returns whether it did."""
        self._fill()
        if self._left < tokens:
            return False
        self._left -= tokens
        return True

    def _fill(self) -> None:
        now = self._clock()
        self._left, self._last = min(self._most, self._left + self._per_second * (now - self._last)), now
