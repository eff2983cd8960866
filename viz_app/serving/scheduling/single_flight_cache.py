"""Bounded cache with single flight: equal requests at the same time are one computation, a flight.

Thirty students open the same example: one request leads the flight and computes, the others follow and wait for the
value. When leader and followers have all given up, `should_stop` tells the computation.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from viz_app.serving.scheduling.monitoring import cache_lookups
from viz_app.serving.scheduling.render_lock import without_render_lock
from viz_app.serving.scheduling.request_queue import OnPosition, RequestQueue, Superseded, Ticket, Visitor

ShouldStop = Callable[[], bool]
Value = TypeVar("Value")

_POLL_SECONDS = 0.1  # a follower notices within this time that it is superseded


class _Flight(Generic[Value]):
    """One computation in progress and the number of its followers."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.value: Value | None = None
        self.error: Exception | None = None
        self.followers = 0


class SingleFlightCache(Generic[Value]):
    """Least-recently-used cache with single flight.

    Args:
        max_entries: Values kept at most.
        max_bytes: Their size at most, as given by `size`.
        size: Returns the bytes of a value.
        is_pinned: Returns whether the value of a key is never evicted; pinned values do not count towards the limits,
            so there must be few of them.
    """

    def __init__(
        self,
        max_entries: int,
        max_bytes: int,
        size: Callable[[Value], int],
        is_pinned: Callable[[object], bool] = lambda key: False,
    ) -> None:
        self._is_pinned = is_pinned
        self._pinned: dict[object, Value] = {}
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._size = size
        self._values: OrderedDict[object, Value] = OrderedDict()
        self._bytes = 0
        self._flights: dict[object, _Flight[Value]] = {}
        self._lock = threading.Lock()

    def get(self, key: object, compute: Callable[[ShouldStop], Value], ticket: Ticket) -> Value:
        """Return the value of a key; compute it at most once.

        Args:
            key: Identity of the value.
            compute: Computes the value; its argument returns whether every request has given up.
            ticket: The request; when it is cancelled this raises Superseded, unless the computation has begun and has
                followers.

        Raises:
            Superseded: A newer request took over.
            Exception: The error of `compute`, also for the followers; nothing is kept then.
        """
        while True:
            ticket.check()
            with self._lock:
                if key in self._pinned:
                    cache_lookups.labels("known").inc()
                    return self._pinned[key]
                if key in self._values:
                    cache_lookups.labels("known").inc()
                    self._values.move_to_end(key)
                    return self._values[key]
                flight = self._flights.get(key)
                leads = flight is None
                if flight is None:
                    flight = self._flights[key] = _Flight()
                else:
                    flight.followers += 1
            cache_lookups.labels("computed" if leads else "shared").inc()
            with without_render_lock():
                if leads:
                    return self._lead(key, flight, compute, ticket)
                self._follow(flight, ticket)
            if flight.error is not None:
                raise flight.error
            if flight.value is not None:
                return flight.value
            # The leader gave up: ask again, maybe as the leader, in the order of the tickets.

    def get_in_turn(
        self,
        key: object,
        compute: Callable[[ShouldStop], Value],
        queue: RequestQueue,
        session: str,
        on_position: OnPosition | None = None,
        visitor: Visitor | None = None,
        patience: float = 0.0,
    ) -> Value:
        """Return the value of a key; compute it in a slot of a queue.

        Args:
            key: Identity of the value.
            compute: As for `get`. It holds a slot of the queue, so it must not ask for another one.
            queue: Bounds the computations at once.
            session: Session that asks; its newer request in the same queue cancels this one.
            on_position: Called with the number of requests ahead while this one waits for a slot.
            visitor: Origin of the request, if the caller's run does not say.
            patience: Seconds before the computation asks for its slot, unless a newer request takes over.

        Raises:
            Superseded: A newer request took over.
            Exception: As `get`.
        """
        with queue.ticket(session, visitor) as ticket:

            def work(should_stop: ShouldStop) -> Value:
                if patience:
                    ticket.wait(patience)
                with queue.slot(ticket, on_position):
                    return compute(should_stop)

            return self.get(key, work, ticket)

    def _lead(
        self, key: object, flight: _Flight[Value], compute: Callable[[ShouldStop], Value], ticket: Ticket
    ) -> Value:
        def unwanted() -> bool:
            return ticket.cancelled and flight.followers == 0

        try:
            value = compute(unwanted)
            with self._lock:
                flight.value = value
                self._keep(key, value)
        except Superseded:
            raise
        except Exception as error:
            flight.error = error
            raise
        finally:
            with self._lock:
                del self._flights[key]
            flight.done.set()
        return value

    def _follow(self, flight: _Flight[Value], ticket: Ticket) -> None:
        """Wait until the leader is done or gives up. Raises Superseded when this request is cancelled first."""
        try:
            while not flight.done.wait(_POLL_SECONDS):
                ticket.check()
        finally:
            with self._lock:
                flight.followers -= 1

    def _keep(self, key: object, value: Value) -> None:
        if self._is_pinned(key):
            self._pinned[key] = value
            return
        size = self._size(value)
        if size > self._max_bytes:
            return
        self._values[key] = value
        self._bytes += size
        while len(self._values) > self._max_entries or self._bytes > self._max_bytes:
            _, oldest = self._values.popitem(last=False)
            self._bytes -= self._size(oldest)

    def __len__(self) -> int:
        with self._lock:
            return len(self._values)

    @property
    def nbytes(self) -> int:
        """Bytes of the cached values."""
        with self._lock:
            return self._bytes
