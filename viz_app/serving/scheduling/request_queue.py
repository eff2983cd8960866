"""Queue in front of the model: few requests run at once, in fair turns, and a session's newest request wins.

Streamlit starts a new thread for every edit of a text field and lets the old one run on, so six quick edits would be
six translations at the same time. Here each request takes a ticket. A newer ticket of the same session cancels the
older one, whether that one waits or works; the decode loop asks `ticket.cancelled` at every step.

`fair_share` orders the tickets: addresses share, the sessions of an address take turns, and among equals the first to
arrive is served first. The arrival belongs to the ticket. A follower whose leader gives up (see `single_flight_cache`)
therefore stays ahead of later requests.

A ticket works alone in a slot, or its job shares a batch: the first ticket in line takes along the jobs that fit, and
their tickets only wait for the results. Slots and batches are counted apart.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from typing import TypeVar, cast

from viz_app.serving.scheduling.fair_share import Charge, FairShare, Request

OnPosition = Callable[[int], None]

MAX_WAITING = 64  # requests of one address

_POLL_SECONDS = 0.25  # a waiter notices within this time that its visitor has left
_PATIENCE_SECONDS = 0.5  # a shorter wait is not worth a message, which costs the server as much as a part of a page


class Superseded(Exception):
    """A newer request of the same session has replaced this one, or its visitor has left."""


class QueueFull(Exception):
    """Too many requests of the same address wait already."""


@dataclass(frozen=True)
class Visitor:
    """Origin of a request.

    Args:
        address: Where the visitor connects from.
        is_present: Whether the visitor is still there; may be called from any thread.
    """

    address: str = ""
    is_present: Callable[[], bool] = lambda: True


class BatchJob:
    """Job that may share a batch with others. This one never does."""

    max_batch_size = 1  # jobs of a batch that this one leads

    def fits(self, other: BatchJob) -> bool:
        """Return whether another job may join the batch that this one leads. Must be quick."""
        return False


Job = TypeVar("Job", bound=BatchJob)


class Ticket(Request):
    """One request of one session. Made by `RequestQueue.ticket`.

    Args:
        session: Session that asks.
        arrival: Place in the order of requests; among equals the lowest is served first.
        visitor: Origin of the request.
    """

    def __init__(self, session: str, arrival: int = 0, visitor: Visitor = Visitor()) -> None:
        super().__init__(session, arrival, visitor.address)
        self.job: BatchJob | None = None  # None for a request that works alone
        self.is_scheduled = False  # whether it has a slot, its own or in the batch of another ticket
        self._is_present = visitor.is_present
        self._superseded = False
        self._news = threading.Event()

    @property
    def cancelled(self) -> bool:
        """Whether a newer request of the session has taken over, or the visitor has left."""
        return self._superseded or not self._is_present()

    def cancel(self) -> None:
        """Ask the request to stop as soon as it can."""
        self._superseded = True
        self.notify()

    def notify(self) -> None:
        """Wake the request: it may start, or it is cancelled."""
        self._news.set()

    def wait(self, seconds: float) -> None:
        """Sleep until `notify` is called, at most for this time."""
        self._news.wait(seconds)
        self._news.clear()

    def check(self) -> None:
        """Raise Superseded when the ticket is cancelled."""
        if self.cancelled:
            raise Superseded


class RequestQueue:
    """Queue that lets at most `slots` requests and `batches` batches work at once.

    Args:
        slots: Requests that may work at the same time, each alone.
        batches: Batches of requests that may work at the same time.
        check_not_superseded: Called before a ticket is given. May raise when a newer run has replaced the caller, so
            that an old request does not come late and cancel a newer one.
        visitor: Returns the caller's visitor when it takes a ticket.
        max_waiting: Requests of one address that may wait at the same time.
    """

    def __init__(
        self,
        slots: int = 1,
        check_not_superseded: Callable[[], None] = lambda: None,
        visitor: Callable[[], Visitor] = Visitor,
        max_waiting: int = MAX_WAITING,
        batches: int = 1,
    ) -> None:
        for name, number in (("slots", slots), ("batches", batches)):
            if number < 1:
                raise ValueError(f"{name} is {number}, but must be at least 1")
        self.slots, self.batches = slots, batches
        self._check_not_superseded = check_not_superseded
        self._visitor = visitor
        self._max_waiting = max_waiting
        self._free = {False: slots, True: batches}  # by whether a ticket has a job for a batch
        self._arrivals = 0
        self._share = FairShare()
        self._waiting: list[Ticket] = []  # the next one first
        self._newest: dict[str, Ticket] = {}
        self._lock = threading.Lock()

    @contextmanager
    def ticket(self, session: str, visitor: Visitor | None = None) -> Iterator[Ticket]:
        """Give a ticket to the newest request of a session, and cancel the session's older one.

        Args:
            session: Session that asks.
            visitor: Origin of the request, if the caller's run does not say.
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
            Superseded: The ticket is cancelled while it waits.
            QueueFull: Too many of its address wait already.
        """
        with self._acquire(ticket, on_position):
            yield

    @contextmanager
    def batch(self, ticket: Ticket, job: Job, on_position: OnPosition | None = None) -> Iterator[list[Job]]:
        """Wait until a batch may start with a ticket, then hold it for this ticket and the jobs behind it that fit.

        When more than one batch may start now, each takes its share of the waiting jobs.

        Args:
            ticket: The request that wants to be served.
            job: Its job.
            on_position: As for `slot`.

        Yields:
            The jobs of the batch, this one first; an empty list if another ticket's batch serves this one.

        Raises:
            Superseded: As `slot`.
            QueueFull: As `slot`.
        """
        ticket.job = job
        with self._acquire(ticket, on_position) as tickets:
            yield [cast(Job, each.job) for each in tickets]  # of its type, since `fits` said so

    @contextmanager
    def _acquire(self, ticket: Ticket, on_position: OnPosition | None) -> Iterator[list[Ticket]]:
        charges = self._wait_for_turn(ticket, on_position)
        if not charges:
            yield []
            return
        started = time.monotonic()
        try:
            yield list(charges)
        finally:
            with self._lock:
                self._free[ticket.job is not None] += 1
                seconds = (time.monotonic() - started) / len(charges)
                for each, charge in charges.items():
                    self._share.end(each, charge, seconds)
                ticket.is_scheduled = False  # the others reset theirs when they wake
                ticket.arrival = self._next_arrival()  # a second turn lets the others go first
                self._reorder(self._waiting)

    def _wait_for_turn(self, ticket: Ticket, on_position: OnPosition | None) -> dict[Ticket, Charge]:
        """Wait for the turn; return the charge of each ticket served with this one, of none if another serves it."""
        with self._lock:
            if sum(each.address == ticket.address for each in self._waiting) >= self._max_waiting:
                raise QueueFull
            self._share.arrive(ticket)
            self._reorder([*self._waiting, ticket])
        reported, patient_until = None, time.monotonic() + _PATIENCE_SECONDS
        try:
            while True:
                with self._lock:
                    ticket.check()
                    if ticket.is_scheduled:
                        ticket.is_scheduled = False
                        return {}
                    if self._is_next(ticket):
                        return self._start(ticket)
                    position = self._waiting.index(ticket) + self._working()
                if on_position is not None and position != reported and time.monotonic() > patient_until:
                    reported = position
                    on_position(position)  # outside the lock: drawing may block or raise
                ticket.wait(_POLL_SECONDS)
        except BaseException:
            with self._lock:
                if not ticket.is_scheduled:
                    self._share.leave(ticket)
                    self._reorder([each for each in self._waiting if each is not ticket])
            raise

    def _start(self, ticket: Ticket) -> dict[Ticket, Charge]:
        """Schedule a ticket and its companions; return their charges."""
        scheduled = [ticket, *self._companions(ticket)]
        self._free[ticket.job is not None] -= 1
        for each in scheduled:
            each.is_scheduled = True
            each.notify()
        charges = {each: self._share.begin(each) for each in scheduled}
        self._reorder([each for each in self._waiting if not each.is_scheduled])  # the next one may start, too
        return charges

    def _companions(self, leader: Ticket) -> list[Ticket]:
        """Return the waiting tickets that share the leader's batch."""
        job = leader.job
        if job is None:
            return []
        fitting = [each for each in self._waiting if each is not leader and each.job and job.fits(each.job)]
        share = ceil((len(fitting) + 1) / self._free[True])
        return fitting[: min(share, job.max_batch_size) - 1]

    def _is_next(self, ticket: Ticket) -> bool:
        """Return whether this ticket is first in line for a free slot."""
        is_batch = ticket.job is not None
        return self._free[is_batch] > 0 and ticket is self._first(is_batch)

    def _first(self, is_batch: bool) -> Ticket | None:
        return next((each for each in self._waiting if (each.job is not None) is is_batch), None)

    def _reorder(self, waiting: list[Ticket]) -> None:
        """Set the waiting tickets, and wake only those that may start."""
        self._waiting = self._share.order(waiting)
        for is_batch, free in self._free.items():
            if free > 0 and (first := self._first(is_batch)) is not None:
                first.notify()

    def _next_arrival(self) -> int:
        self._arrivals += 1
        return self._arrivals

    def _working(self) -> int:
        return self.slots + self.batches - sum(self._free.values())

    @property
    def waiting(self) -> int:
        """Requests that wait for a slot."""
        with self._lock:
            return len(self._waiting)

    @property
    def working(self) -> int:
        """Slots and batches in use."""
        with self._lock:
            return self._working()
