"""Fair queueing: the address, then the session, with the least used time is next.

The queue counts the time that each party has used. A party that returns starts at least at the level of the one served
last, so it cannot save up turns while away (P. Goyal, H. Vin, H. Cheng: Start-time Fair Queueing, IEEE/ACM Transactions
on Networking 5, 1997). The request with the earliest expected finish is next. Its expected cost is the last cost of its
session, or the recent mean for a new session, so a short request does not wait for all the long ones before it
(A. Demers, S. Keshav, S. Shenker: Analysis and Simulation of a Fair Queueing Algorithm, SIGCOMM 1989). No slot is free
while a request waits.

The weight of an address is the square root of the number of its sessions. A class behind one router gets more than one
visitor at home. A hundred sessions of one visitor get ten times the time of one session, not a hundred times.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

_MIN_COST = 1e-3  # seconds
_NEWEST = 0.2  # weight of the newest cost in the mean; the first request of a session is expected to cost that
_MAX_REMEMBERED = 1_000  # sessions whose last cost is known


_R = TypeVar("_R", bound="Request")


@dataclass(eq=False)
class Request:
    """Request that waits for its turn.

    Args:
        session: Session that asks.
        arrival: Unique place in the order of requests, which decides between equals.
        address: Where it comes from.
    """

    session: str
    arrival: int
    address: str = ""


class Charge(NamedTuple):
    """Charge of a request while it works.

    Args:
        seconds: Its expected duration.
        weight: Weight of its address.
    """

    seconds: float
    weight: float


@dataclass
class _Usage:
    """Weighted time used by each party."""

    used: dict[str, float] = field(default_factory=dict)
    floor: float = 0.0  # the used time of the party served last, before it was served

    def join(self, party: str, present: Collection[str]) -> None:
        """Add a party to those that are present."""
        self.used = {each: used for each, used in self.used.items() if used > self.floor or each in present}
        self.used[party] = max(self.used.get(party, 0.0), self.floor)

    def begin(self, party: str, cost: float) -> None:
        """Charge a party that is served its expected cost."""
        self.floor = max(self.floor, self.used[party])
        self.used[party] += cost


class FairShare:
    """Order of requests. Not safe for threads by itself."""

    def __init__(self) -> None:
        self._present: list[Request] = []
        self._addresses = _Usage()
        self._sessions: dict[str, _Usage] = {}
        self._last: dict[str, float] = {}  # seconds of the last request of each session
        self._usual = _MIN_COST  # seconds: a moving mean over all requests

    def arrive(self, request: Request) -> None:
        """Add a request, which waits and then works."""
        here = [each for each in self._present if each.address == request.address]
        if not here:
            self._addresses.join(request.address, {each.address for each in self._present})
            self._sessions = {each: self._sessions[each] for each in self._addresses.used if each in self._sessions}
        self._sessions.setdefault(request.address, _Usage()).join(request.session, {each.session for each in here})
        self._present.append(request)

    def order(self, waiting: Collection[_R]) -> list[_R]:
        """Return waiting requests in the order of service at their expected costs."""
        by_address: defaultdict[str, list[_R]] = defaultdict(list)
        for request in waiting:
            by_address[request.address].append(request)
        queues = {address: self._order_in_address(address, requests) for address, requests in by_address.items()}
        used = {address: self._addresses.used[address] for address in by_address}
        weights = {address: self._weight(address) for address in by_address}
        heads: list[tuple[float, int, _R]] = []

        def push(address: str) -> None:
            request = next(queues[address], None)
            if request is not None:
                finish = used[address] + self._expected(request) / weights[address]
                heapq.heappush(heads, (finish, request.arrival, request))

        for address in by_address:
            push(address)
        ordered: list[_R] = []
        while heads:
            used_then, _, request = heapq.heappop(heads)
            ordered.append(request)
            used[request.address] = used_then
            push(request.address)
        return ordered

    def _order_in_address(self, address: str, requests: list[_R]) -> Iterator[_R]:
        """Yield the requests of one address in the order of service."""
        used = dict(self._sessions[address].used)
        heap = [(used[each.session] + self._expected(each), each.arrival, each) for each in requests]
        heapq.heapify(heap)
        while heap:
            finish, arrival, request = heapq.heappop(heap)
            now = used[request.session] + self._expected(request)
            if now > finish:  # another one of its session has been served meanwhile
                heapq.heappush(heap, (now, arrival, request))
                continue
            used[request.session] = now
            yield request

    def begin(self, request: Request) -> Charge:
        """Charge a request that starts to work. Returns the charge, for `end`."""
        charge = Charge(self._expected(request), self._weight(request.address))
        self._addresses.begin(request.address, charge.seconds / charge.weight)
        self._sessions[request.address].begin(request.session, charge.seconds)
        return charge

    def end(self, request: Request, charge: Charge, seconds: float) -> None:
        """Replace the charge of a request, from `begin`, by the seconds that it worked, and remove it."""
        cost = max(seconds, _MIN_COST)
        self._addresses.used[request.address] += (cost - charge.seconds) / charge.weight
        self._sessions[request.address].used[request.session] += cost - charge.seconds
        self._last.pop(request.session, None)
        self._last[request.session] = cost
        self._usual += _NEWEST * (cost - self._usual)
        if len(self._last) > _MAX_REMEMBERED:
            del self._last[next(iter(self._last))]  # the one served longest ago
        self.leave(request)

    def leave(self, request: Request) -> None:
        """Remove a request. When none is left, all are equals again."""
        self._present.remove(request)
        if not self._present:
            self._addresses = _Usage()
            self._sessions.clear()

    def _expected(self, request: Request) -> float:
        return self._last.get(request.session, self._usual)

    def _weight(self, address: str) -> float:
        return math.sqrt(len({each.session for each in self._present if each.address == address}))
