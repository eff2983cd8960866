"""One page is drawn at a time, in fair turns.

Streamlit gives each visitor's run a thread, yet Python runs one thread at a time, and threads that take the interpreter
from one another at every step get half as much done. A run therefore waits for its turn, and gives it up while it waits
for the model. Somebody who asks for page after page then slows down nobody else's translation by more than one page.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from viz_app.serving.scheduling.request_queue import RequestQueue, Ticket
from viz_app.serving.scheduling.visitor import current_visitor


class _Turn:
    """The turn of one run, which it takes and gives up several times."""

    def __init__(self, queue: RequestQueue, ticket: Ticket) -> None:
        self._queue, self._ticket = queue, ticket
        self._slot = ExitStack()
        self.held = False

    def take(self) -> None:
        """Wait for it. Raises Superseded."""
        self._slot.enter_context(self._queue.slot(self._ticket))
        self.held = True

    def give_up(self) -> None:
        """Let the next one draw; nothing if the turn is not held."""
        self.held = False
        self._slot.close()


_of_thread = threading.local()


@st.cache_resource(show_spinner=False, max_entries=1)
def _queue() -> RequestQueue:
    # Runs wait for milliseconds, and each has a connection of its own: there is no need to turn anybody away.
    return RequestQueue(1, visitor=current_visitor, most_waiting=sys.maxsize)


@contextmanager
def drawing_turn(queue: RequestQueue | None = None) -> Iterator[None]:
    """Wait until the current run may draw, and let the next one draw afterwards.

    Args:
        queue: Of the runs that take turns; None for that of all visitors.

    Raises:
        Superseded: A newer run of the session has come, or the visitor has left.
    """
    queue, context = queue or _queue(), get_script_run_ctx(suppress_warning=True)
    with queue.ticket(context.session_id if context else "") as ticket:
        turn = _Turn(queue, ticket)
        turn.take()
        _of_thread.turn = turn
        try:
            yield
        finally:
            _of_thread.turn = None
            turn.give_up()


@contextmanager
def released() -> Iterator[None]:
    """Give up this thread's turn, if it holds one, for as long as it waits or computes. Raises Superseded."""
    turn: _Turn | None = getattr(_of_thread, "turn", None)
    if turn is None or not turn.held:
        yield
        return
    turn.give_up()
    try:
        yield
    finally:
        turn.take()
