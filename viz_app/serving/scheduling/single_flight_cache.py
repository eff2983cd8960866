"""A bounded cache in which equal requests at the same time are one computation.

Thirty students open the same example: one of them computes, the others wait for the value. Of a computation that
everybody has given up, the one who computes hears through `should_stop`.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from viz_app.serving.scheduling.monitoring import cache_lookups
from viz_app.serving.scheduling.render_lock import released
from viz_app.serving.scheduling.request_queue import OnPosition, RequestQueue, Superseded, Ticket, Visitor

ShouldStop = Callable[[], bool]
Value = TypeVar("Value")

_LOOK_UP_SECONDS = 0.1  # so that a waiter notices when it is superseded


class _Flight(Generic[Value]):
    """One computation in progress and the number of others who wait for it."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.value: Value | None = None
        self.error: Exception | None = None
        self.followers = 0


class SingleFlightCache(Generic[Value]):
    """A least-recently-used cache in which equal requests at the same time are one computation.

    Args:
        max_entries: Values kept at most.
        max_bytes: Their size at most, as given by `size`.
        size: Bytes of a value.
        is_pinned: Whether the value of a key is never evicted; such values do not count towards the limits, so there
            must be few of them.
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
        """The value of a key, computed at most once.

        Args:
            key: What identifies the value.
            compute: Makes the value; it is handed a function that says whether nobody wants it any more.
            ticket: The request; when it is cancelled this raises Superseded, unless the computation has begun and
                others wait for its value.

        Raises:
            Superseded: when a newer request took over.
            Exception: whatever `compute` raised, for everybody who waited; nothing is kept then.
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
            with released():
                if leads:
                    return self._lead(key, flight, compute, ticket)
                self._follow(flight, ticket)
            if flight.error is not None:
                raise flight.error
            if flight.value is not None:
                return flight.value
            # The leader gave up: ask again, perhaps as the leader, in the order of the tickets.

    def get_in_turn(
        self,
        key: object,
        compute: Callable[[ShouldStop], Value],
        queue: RequestQueue,
        session: str,
        on_position: OnPosition | None = None,
        visitor: Visitor | None = None,
    ) -> Value:
        """The value of a key, computed when it is the session's turn in a queue.

        Args:
            key: What identifies the value.
            compute: As for `get`. It holds a slot of the queue, so it must not ask for another one.
            queue: Bounds how many compute at once.
            session: Who asks; a newer request of the same session in the same queue cancels this one.
            on_position: Called with the number of requests ahead while this one waits for a slot.
            visitor: For whom, if the caller's run does not say.

        Raises:
            Superseded: when a newer request took over.
            Exception: as `get`.
        """
        with queue.ticket(session, visitor) as ticket:

            def work(should_stop: ShouldStop) -> Value:
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
        """Wait until the leader is done or has given up. Raises Superseded when this request is cancelled first."""
        try:
            while not flight.done.wait(_LOOK_UP_SECONDS):
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
        """Bytes of the values kept."""
        with self._lock:
            return self._bytes
