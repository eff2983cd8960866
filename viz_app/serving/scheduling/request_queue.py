"""The queue in front of the model: few requests run at once, in fair turns; a session's newest request wins.

Streamlit starts a new thread for every edit of a text field and lets the old one run on, so six quick edits would be
six translations at the same time. Here each request takes a ticket. A newer ticket of the same session cancels the
older one, whether that one waits or works; the decode loop asks `ticket.cancelled` at every step.

Who is next `fair_share` decides: addresses share, the sessions of an address take turns, and of equals
the first to come is served first. The place among equals comes with the ticket. Whoever has waited for another's
computation, which is then given up (see `single_flight_cache`), thus goes in front of those who came
later.

Some requests are served better together, as sentences that a model decodes in one batch. Whoever of them comes first in
the line takes others along, which then have nothing to do but wait for their part of the result. They are counted apart
from requests that work alone.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil

from viz_app.serving.scheduling.fair_share import Charge, FairShare, Request

OnPosition = Callable[[int], None]
Fits = Callable[[object, object], bool]

MAX_WAITING = 64  # requests of one address

_LOOK_UP_SECONDS = 0.25  # so that a waiter whose visitor has left notices it
_PATIENCE_SECONDS = 0.5  # a shorter wait is not worth a message, which takes the server as long as a part of a page


class Superseded(Exception):
    """A newer request of the same session has taken this one's place."""


class QueueFull(Exception):
    """Too many requests of the same address wait already."""


@dataclass(frozen=True)
class Visitor:
    """For whom a request is.

    Args:
        address: Where the visitor connects from.
        is_present: Whether the visitor is still there; may be called from any thread.
    """

    address: str = ""
    is_present: Callable[[], bool] = lambda: True


class Ticket(Request):
    """One request of one session. Made by `RequestQueue.ticket`.

    Args:
        session: Who asks.
        arrival: Its place in the order of requests; of equals the lowest is served first.
        visitor: For whom.
    """

    def __init__(self, session: str, arrival: int = 0, visitor: Visitor = Visitor()) -> None:
        super().__init__(session, arrival, visitor.address)
        self.work: object = None  # what is to be done for it, if it can be done together with others
        self.is_scheduled = False  # whether it has a slot, its own or in the batch of another one
        self._is_present = visitor.is_present
        self._superseded = False
        self._news = threading.Event()

    @property
    def cancelled(self) -> bool:
        """Whether a newer request of the session has taken over, or the visitor has left."""
        return self._superseded or not self._is_present()

    def cancel(self) -> None:
        """Ask the request to stop at the next chance."""
        self._superseded = True
        self.notify()

    def notify(self) -> None:
        """Wake the request: it may start, or it is cancelled."""
        self._news.set()

    def wait(self, seconds: float) -> None:
        """Sleep until `notify` is called, for so many seconds at most."""
        self._news.wait(seconds)
        self._news.clear()

    def check(self) -> None:
        """Raise Superseded when the ticket is cancelled."""
        if self.cancelled:
            raise Superseded


class RequestQueue:
    """At most `slots` requests and `batches` of them work at once; the others wait for their turn.

    Args:
        slots: Requests that may work at the same time, each alone.
        batches: Batches of requests that may work at the same time.
        check_not_superseded: Called before a ticket is given. May raise when a newer run has replaced the caller, so
            that an old request does not come late and cancel a newer one.
        visitor: For whom the caller is at work, asked when it takes a ticket.
        most_waiting: Requests of one address that may wait at the same time.
    """

    def __init__(
        self,
        slots: int = 1,
        check_not_superseded: Callable[[], None] = lambda: None,
        visitor: Callable[[], Visitor] = Visitor,
        most_waiting: int = MAX_WAITING,
        batches: int = 1,
    ) -> None:
        for name, number in (("slots", slots), ("batches", batches)):
            if number < 1:
                raise ValueError(f"{name} is {number}, but must be at least 1")
        self.slots, self.batches = slots, batches
        self._check_not_superseded = check_not_superseded
        self._visitor = visitor
        self._most_waiting = most_waiting
        self._working = 0
        self._working_batches = 0
        self._arrivals = 0
        self._share = FairShare()
        self._waiting: list[Ticket] = []  # the next one stands first
        self._newest: dict[str, Ticket] = {}
        self._lock = threading.Lock()

    @contextmanager
    def ticket(self, session: str, visitor: Visitor | None = None) -> Iterator[Ticket]:
        """A ticket for the newest request of a session; an older one of the same session is cancelled at once.

        Args:
            session: Who asks.
            visitor: For whom, if the caller's run does not say.
        """
        self._check_not_superseded()
        visitor = visitor or self._visitor()
        with self._lock:
            ticket = Ticket(session, self._next_arrival(), visitor)
            older = self._newest.get(session)
            if older is not None:
                older.cancel()
            self._newest[session] = ticket
        try:
            yield ticket
        finally:
            with self._lock:
                if self._newest.get(session) is ticket:
                    del self._newest[session]

    @contextmanager
    def slot(self, ticket: Ticket, on_position: OnPosition | None = None) -> Iterator[None]:
        """Wait for a free slot, then hold it.

        Args:
            ticket: The request that wants to work.
            on_position: Called with the number of requests ahead after half a second of waiting, and when it changes,
                from this thread. It may raise to give up waiting.

        Raises:
            Superseded: when the ticket is cancelled while it waits.
            QueueFull: when too many of its address wait already.
        """
        with self._acquire(ticket, on_position, None):
            yield

    @contextmanager
    def batch(
        self, ticket: Ticket, fits: Fits, most: int, on_position: OnPosition | None = None
    ) -> Iterator[list[Ticket]]:
        """Wait until a batch may start with a ticket, then hold it for that one and for others behind it.

        When more than one batch may start now, each takes its share of those that wait.

        Args:
            ticket: The request that wants to be served; its `work` says what is to be done.
            fits: Whether two tokens of work can be done together; the first one is that of the batch. It must be quick.
            most: Requests of a batch at most.
            on_position: As for `slot`.

        Yields:
            The requests of the batch, this one first; an empty list if this one is served in another one's batch.

        Raises:
            Superseded: as `slot`.
            QueueFull: as `slot`.
        """
        with self._acquire(ticket, on_position, (fits, most)) as together:
            yield together

    @contextmanager
    def _acquire(
        self, ticket: Ticket, on_position: OnPosition | None, batch: tuple[Fits, int] | None
    ) -> Iterator[list[Ticket]]:
        charges = self._enter(ticket, on_position, batch)
        if not charges:
            yield []
            return
        started = time.monotonic()
        try:
            yield list(charges)
        finally:
            with self._lock:
                self._add_working(ticket, -1)
                seconds = (time.monotonic() - started) / len(charges)
                for each, charge in charges.items():
                    self._share.end(each, charge, seconds)
                ticket.is_scheduled = False  # the others see to it themselves, when they hear of it
                ticket.arrival = self._next_arrival()  # who asks for another turn lets the others go first
                self._reorder(self._waiting)

    def _enter(
        self, ticket: Ticket, on_position: OnPosition | None, batch: tuple[Fits, int] | None
    ) -> dict[Ticket, Charge]:
        """Wait for the turn; what this ticket, and each that is served with it, is charged."""
        with self._lock:
            if sum(each.address == ticket.address for each in self._waiting) >= self._most_waiting:
                raise QueueFull
            self._share.arrive(ticket)
            self._reorder([*self._waiting, ticket])
        told, patient_until = None, time.monotonic() + _PATIENCE_SECONDS
        try:
            while True:
                with self._lock:
                    ticket.check()
                    if ticket.is_scheduled:
                        ticket.is_scheduled = False
                        return {}
                    if self._is_next(ticket):
                        together = [ticket, *(self._others(ticket, *batch) if batch else [])]
                        self._add_working(ticket, 1)
                        for each in together:
                            each.is_scheduled = True
                            each.notify()
                        charges = {each: self._share.begin(each) for each in together}
                        self._reorder([each for each in self._waiting if not each.is_scheduled])  # it may fit
                        return charges
                    position = self._waiting.index(ticket) + self._working + self._working_batches
                if on_position is not None and position != told and time.monotonic() > patient_until:
                    told = position
                    on_position(position)  # outside the lock: drawing may block or raise
                ticket.wait(_LOOK_UP_SECONDS)
        except BaseException:
            with self._lock:
                if not ticket.is_scheduled:
                    self._share.leave(ticket)
                    self._reorder([each for each in self._waiting if each is not ticket])
            raise

    def _others(self, first: Ticket, fits: Fits, most: int) -> list[Ticket]:
        """Which of those that wait are served together with the first one."""
        alike = [each for each in self._waiting if each is not first and each.work and fits(first.work, each.work)]
        share = ceil((len(alike) + 1) / (self.batches - self._working_batches))
        return alike[: min(share, most) - 1]

    def _is_next(self, ticket: Ticket) -> bool:
        """Whether a slot is free that nobody in front of this one could take."""
        return ticket is next((each for each in self._waiting if bool(each.work) == bool(ticket.work)), None) and (
            self._working_batches < self.batches if ticket.work else self._working < self.slots
        )

    def _add_working(self, ticket: Ticket, change: int) -> None:
        if ticket.work:
            self._working_batches += change
        else:
            self._working += change

    def _reorder(self, waiting: list[Ticket]) -> None:
        """These wait now; whoever may start is woken up, and nobody else."""
        self._waiting = self._share.order(waiting)
        for works_alone in (True, False):
            first = next((each for each in self._waiting if (not each.work) is works_alone), None)
            if first is not None and self._is_next(first):
                first.notify()

    def _next_arrival(self) -> int:
        self._arrivals += 1
        return self._arrivals

    @property
    def waiting(self) -> int:
        """Requests that wait for a slot."""
        with self._lock:
            return len(self._waiting)

    @property
    def working(self) -> int:
        """Slots and batches that are held."""
        with self._lock:
            return self._working + self._working_batches
