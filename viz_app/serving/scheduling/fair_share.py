"""Whose turn it is when more requests wait than can work: whoever has had least, by addresses and then by sessions.

Of each party it is known how much time it has used. A party that comes back has used at least as much as the one that
was served last had before, so nobody saves up turns while away (P. Goyal, H. Vin, H. Cheng: Start-time Fair Queueing,
IEEE/ACM Transactions on Networking 5, 1997). The request that would finish first is served first, as its session's last
cost foretells, or the recent mean for a new session: a short one does not wait for all the long ones before it
(A. Demers, S. Keshav, S. Shenker: Analysis and Simulation of a Fair Queueing Algorithm, SIGCOMM 1989). As long as
anybody waits, no free slot is unused.

Addresses share by weight: the square root of the number of their sessions. A class behind one router gets more than one
visitor at home, and somebody who opens a hundred sessions ten times as much as he would with one, not a hundred times.
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
    """Something that waits for its turn.

    Args:
        session: Whose it is.
        arrival: Its place in the order of requests, which decides between equals; no other request has it.
        address: Where it comes from.
    """

    session: str
    arrival: int
    address: str = ""


class Charge(NamedTuple):
    """What a request is charged while it works.

    Args:
        seconds: That it is expected to take.
        weight: Of its address.
    """

    seconds: float
    weight: float


@dataclass
class _Usage:
    """Seconds, over its weight, that each of the parties has used that share something."""

    used: dict[str, float] = field(default_factory=dict)
    floor: float = 0.0  # what the one that was served last had used before

    def join(self, party: str, present: Collection[str]) -> None:
        """A party comes, beside those that are present."""
        self.used = {each: used for each, used in self.used.items() if used > self.floor or each in present}
        self.used[party] = max(self.used.get(party, 0.0), self.floor)

    def begin(self, party: str, cost: float) -> None:
        """A party is served, which is expected to cost so much."""
        self.floor = max(self.floor, self.used[party])
        self.used[party] += cost


class FairShare:
    """Decides in which order requests are served. Not safe for threads by itself."""

    def __init__(self) -> None:
        self._present: list[Request] = []
        self._addresses = _Usage()
        self._sessions: dict[str, _Usage] = {}
        self._last: dict[str, float] = {}  # seconds of the last request of each session
        self._usual = _MIN_COST  # seconds: a moving mean over all requests

    def arrive(self, request: Request) -> None:
        """A request comes, to wait and then to work."""
        here = [each for each in self._present if each.address == request.address]
        if not here:
            self._addresses.join(request.address, {each.address for each in self._present})
            self._sessions = {each: self._sessions[each] for each in self._addresses.used if each in self._sessions}
        self._sessions.setdefault(request.address, _Usage()).join(request.session, {each.session for each in here})
        self._present.append(request)

    def order(self, waiting: Collection[_R]) -> list[_R]:
        """Requests that have come, in the order in which they are served if all cost what is expected."""
        left: defaultdict[str, list[_R]] = defaultdict(list)
        for request in waiting:
            left[request.address].append(request)
        queues = {address: self._within(address, requests) for address, requests in left.items()}
        used = {address: self._addresses.used[address] for address in left}
        weights = {address: self._weight(address) for address in left}
        heads: list[tuple[float, int, _R]] = []

        def push(address: str) -> None:
            request = next(queues[address], None)
            if request is not None:
                finish = used[address] + self._expected(request) / weights[address]
                heapq.heappush(heads, (finish, request.arrival, request))

        for address in left:
            push(address)
        ordered: list[_R] = []
        while heads:
            used_then, _, request = heapq.heappop(heads)
            ordered.append(request)
            used[request.address] = used_then
            push(request.address)
        return ordered

    def _within(self, address: str, requests: list[_R]) -> Iterator[_R]:
        """Requests of one address in the order in which they are served."""
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
        """A request starts to work. Returns what it is charged, for `end`."""
        charge = Charge(self._expected(request), self._weight(request.address))
        self._addresses.begin(request.address, charge.seconds / charge.weight)
        self._sessions[request.address].begin(request.session, charge.seconds)
        return charge

    def end(self, request: Request, charge: Charge, seconds: float) -> None:
        """A request that `begin` has charged so much has worked for so many seconds."""
        cost = max(seconds, _MIN_COST)
        self._addresses.used[request.address] += (cost - charge.seconds) / charge.weight
        self._sessions[request.address].used[request.session] += cost - charge.seconds
        self._last.pop(request.session, None)
        self._last[request.session] = cost
        self._usual += _NEWEST * (cost - self._usual)
        if len(self._last) > _MAX_REMEMBERED:
            del self._last[next(iter(self._last))]  # it was served the longest ago
        self.leave(request)

    def leave(self, request: Request) -> None:
        """A request has been served or given up. When none is left, all are equals again."""
        self._present.remove(request)
        if not self._present:
            self._addresses = _Usage()
            self._sessions.clear()

    def _expected(self, request: Request) -> float:
        return self._last.get(request.session, self._usual)

    def _weight(self, address: str) -> float:
        return math.sqrt(len({each.session for each in self._present if each.address == address}))
