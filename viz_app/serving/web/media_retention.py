"""Keeps files made by download buttons for at least ten seconds; see `install_media_retention`.

Streamlit makes a file for download when its button is pressed, and tells the browser where it is. Whenever a run of any
visitor ends, it removes files that no session refers to: it marks them at one end, and removes them at the next. No
session ever refers to a file made in this way, so that in a class that types it may be gone before a browser on a slow
network asks for it. Here Streamlit looks for such files no more often than every few seconds.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from streamlit import runtime

KEPT_SECONDS = 10.0  # at least; longer, and what is left of old runs would fill the memory


class Throttled:
    """A function that does nothing when called again too soon.

    Args:
        action: The function.
        seconds: Least time between two calls of it.
        clock: Gives the time in seconds.
    """

    def __init__(
        self, action: Callable[[], None], seconds: float = KEPT_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._action, self._seconds, self._clock = action, seconds, clock
        self._next = clock()
        self._lock = threading.Lock()

    def __call__(self) -> None:
        """Call the function, unless its last call was less than `seconds` ago."""
        with self._lock:
            if self._clock() < self._next:
                return
            self._next = self._clock() + self._seconds
        self._action()


def install_media_retention() -> None:
    """Replace `media_file_mgr.remove_orphaned_files` of this server by a throttled one.

    Streamlit has no public setting for this (tested with 1.60 to 1.67). Call it in a run; further calls do nothing.
    """
    if not runtime.exists():  # the page is tried without a server
        return
    manager = runtime.get_instance().media_file_mgr
    if not isinstance(manager.remove_orphaned_files, Throttled):
        manager.remove_orphaned_files = Throttled(manager.remove_orphaned_files)  # type: ignore[method-assign]
