"""Render lock: one run draws its page at a time, in fair turns.

Streamlit gives each visitor's run a thread, but Python runs one thread at a time, and threads that compete for the
interpreter get half as much done. A run therefore waits for the lock, and releases it while it waits for the model. A
visitor who asks for page after page delays a translation of another visitor by one page at most.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from viz_app.serving.scheduling.request_queue import RequestQueue, Ticket


class _RenderLock:
    """Lock of one run, which acquires and releases it several times."""

    def __init__(self, queue: RequestQueue, ticket: Ticket) -> None:
        self._queue, self._ticket = queue, ticket
        self._slot = ExitStack()
        self.held = False

    def acquire(self) -> None:
        """Wait for the lock. Raises Superseded."""
        self._slot.enter_context(self._queue.slot(self._ticket))
        self.held = True

    def release(self) -> None:
        """Let the next run draw."""
        self.held = False
        self._slot.close()


_of_thread = threading.local()


@contextmanager
def render_lock(queue: RequestQueue, session: str = "") -> Iterator[None]:
    """Hold the render lock for the current run.

    Args:
        queue: Queue of the runs.
        session: Of the run; a newer run of the same session replaces it.

    Raises:
        Superseded: A newer run of the session has started, or the visitor has left.
    """
    with queue.ticket(session) as ticket:
        lock = _RenderLock(queue, ticket)
        lock.acquire()
        _of_thread.lock = lock
        try:
            yield
        finally:
            _of_thread.lock = None
            lock.release()


@contextmanager
def without_render_lock() -> Iterator[None]:
    """Release this thread's render lock, if it holds one, while the block runs. Raises Superseded."""
    lock: _RenderLock | None = getattr(_of_thread, "lock", None)
    if lock is None or not lock.held:
        yield
        return
    lock.release()
    try:
        yield
    finally:
        lock.acquire()
