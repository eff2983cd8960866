"""The queue in front of the model: few requests run at once, in order of arrival; a session's newest request wins.

Streamlit starts a new thread for every edit of a text field and lets the old one run on, so six quick edits would be
six translations at the same time. Here each request takes a ticket. A newer ticket of the same session cancels the
older one, whether that one waits or works; the decode loop asks `ticket.cancelled` at every step.

The place in the queue comes with the ticket. Whoever has waited for another's computation, which is then given up
(see `viz_app.serving.single_flight_cache`), thus goes in front of all who came later.
"""

from __future__ import annotations

import threading
from bisect import insort
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import attrgetter

OnPosition = Callable[[int], None]

_LOOK_UP_SECONDS = 0.25  # so that a waiter whose visitor has left notices it


class Superseded(Exception):
    """A newer request of the same session has taken this one's place."""


class Ticket:
    """One request of one session. Made by `RequestQueue.ticket`.

    Args:
        session: Who asks.
        arrival: Its place in the order of requests; the lowest is served first.
    """

    def __init__(self, session: str, arrival: int = 0) -> None:
        self.session = session
        self.arrival = arrival
        self._cancelled = threading.Event()

    @property
    def cancelled(self) -> bool:
        """Whether a newer request of the session has taken over."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Ask the request to stop at the next chance."""
        self._cancelled.set()

    def check(self) -> None:
        """Raise Superseded when the ticket is cancelled."""
        if self.cancelled:
            raise Superseded


class RequestQueue:
    """At most `slots` requests work at once; the others wait in the order of their arrival.

    Args:
        slots: Requests that may work at the same time.
        check_not_superseded: Called before a ticket is given. May raise when a newer run has replaced the caller, so
            that an old request does not come late and cancel a newer one.
    """

    def __init__(self, slots: int = 1, check_not_superseded: Callable[[], None] = lambda: None) -> None:
        if slots < 1:
            raise ValueError(f"slots is {slots}, but must be at least 1")
        self.slots = slots
        self._check_not_superseded = check_not_superseded
        self._working = 0
        self._arrivals = 0
        self._waiting: list[Ticket] = []  # the first to come stands first
        self._newest: dict[str, Ticket] = {}
        self._changed = threading.Condition()

    @contextmanager
    def ticket(self, session: str) -> Iterator[Ticket]:
        """A ticket for the newest request of a session; an older one of the same session is cancelled at once."""
        self._check_not_superseded()
        with self._changed:
            ticket = Ticket(session, self._next_arrival())
            older = self._newest.get(session)
            if older is not None:
                older.cancel()
            self._newest[session] = ticket
            self._changed.notify_all()
        try:
            yield ticket
        finally:
            with self._changed:
                if self._newest.get(session) is ticket:
                    del self._newest[session]

    @contextmanager
    def slot(self, ticket: Ticket, on_position: OnPosition | None = None) -> Iterator[None]:
        """Wait for a free slot, then hold it.

        Args:
            ticket: The request that wants to work.
            on_position: Called while waiting with the number of requests ahead, a few times a second, from this
                thread. It may raise to give up waiting.

        Raises:
            Superseded: when the ticket is cancelled while it waits.
        """
        self._enter(ticket, on_position)
        try:
            yield
        finally:
            with self._changed:
                self._working -= 1
                ticket.arrival = self._next_arrival()  # who asks for another turn lets the others go first
                self._changed.notify_all()

    def _enter(self, ticket: Ticket, on_position: OnPosition | None) -> None:
        with self._changed:
            insort(self._waiting, ticket, key=attrgetter("arrival"))
        patience = 0.0
        try:
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: ticket.cancelled or self._may_start(ticket), timeout=patience)
                    ticket.check()
                    if self._may_start(ticket):
                        self._waiting.pop(0)
                        self._working += 1
                        self._changed.notify_all()  # the next in line may fit as well
                        return
                    position = self._waiting.index(ticket) + self._working
                if on_position is not None:
                    on_position(position)  # outside the lock: drawing may block or raise
                patience = _LOOK_UP_SECONDS
        except BaseException:
            with self._changed:
                self._waiting.remove(ticket)
                self._changed.notify_all()
            raise

    def _next_arrival(self) -> int:
        self._arrivals += 1
        return self._arrivals

    def _may_start(self, ticket: Ticket) -> bool:
        return self._waiting[0] is ticket and self._working < self.slots

    @property
    def waiting(self) -> int:
        """Requests that wait for a slot."""
        with self._changed:
            return len(self._waiting)

    @property
    def working(self) -> int:
        """Requests that hold a slot."""
        with self._changed:
            return self._working
