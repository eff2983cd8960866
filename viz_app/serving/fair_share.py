"""Whose turn it is when more requests wait than can work: start-time fair queueing, over addresses and then sessions.

Each party has a virtual clock: a request starts at the later of the queue's time and its party's clock, which it then
moves on by what it costs. The one with the earliest start is served first. So whoever has had much waits for those who
have had little, nobody saves up turns while away, and as long as anybody waits a free slot is never left unused
(P. Goyal, H. Vin, H. Cheng: Start-time Fair Queueing, IEEE/ACM Transactions on Networking 5, 1997).

Addresses share by weight: the square root of the number of their sessions. A class behind one router gets more than one
visitor at home, and somebody who opens a hundred sessions ten times as much as he would with one, not a hundred times.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

FIRST_COST = 1.0  # seconds that a request is expected to take before any has been measured
_LEAST_COST = 1e-3
_MEMORY = 0.9  # of the mean of earlier costs


@dataclass(eq=False)
class Request:
    """Something that waits for its turn.

    Args:
        session: Whose it is.
        arrival: Its place in the order of requests, which decides between equals.
        address: Where it comes from.
    """

    session: str
    arrival: int = 0
    address: str = ""


@dataclass
class _Clocks:
    """Virtual time of the parties that share something."""

    now: float = 0.0
    finish: dict[str, float] = field(default_factory=dict)

    def start(self, party: str) -> float:
        return max(self.now, self.finish.get(party, 0.0))

    def serve(self, party: str, cost: float) -> None:
        self.now = self.start(party)
        self.finish[party] = self.now + cost
        self.finish = {each: finish for each, finish in self.finish.items() if finish > self.now}

    def copy(self) -> _Clocks:
        return _Clocks(self.now, dict(self.finish))


class FairShare:
    """Decides in which order requests are served. Not safe for threads by itself."""

    def __init__(self) -> None:
        self._addresses = _Clocks()
        self._sessions: defaultdict[str, _Clocks] = defaultdict(_Clocks)
        self._expected = FIRST_COST

    def order(self, waiting: Iterable[Request]) -> list[Request]:
        """The requests in the order in which they are served, if all cost the same and no other comes."""
        left: defaultdict[str, list[Request]] = defaultdict(list)
        for request in waiting:
            left[request.address].append(request)
        shares = {address: self._expected / _weight(requests) for address, requests in left.items()}
        addresses = self._addresses.copy()
        sessions = {address: self._sessions[address].copy() for address in left}
        ordered: list[Request] = []
        while left:
            address = min(left, key=lambda each: (addresses.start(each), min(one.arrival for one in left[each])))
            clocks, requests = sessions[address], left[address]
            request = min(requests, key=lambda each: (clocks.start(each.session), each.arrival))
            ordered.append(request)
            addresses.serve(address, shares[address])
            clocks.serve(request.session, self._expected)
            requests.remove(request)
            if not requests:
                del left[address]
        return ordered

    def begin(self, request: Request, waiting: Iterable[Request]) -> float:
        """A request starts to work; `waiting` are all that wait, itself included. Returns its address's weight."""
        weight = _weight([each for each in waiting if each.address == request.address])
        self._addresses.serve(request.address, self._expected / weight)
        self._sessions[request.address].serve(request.session, self._expected)
        return weight

    def end(self, request: Request, weight: float, seconds: float) -> None:
        """A request that had this weight has worked for so many seconds."""
        more = max(seconds, _LEAST_COST) - self._expected
        for clocks, party, part in (
            (self._addresses, request.address, more / weight),
            (self._sessions[request.address], request.session, more),
        ):
            clocks.finish[party] = clocks.finish.get(party, clocks.now) + part
        self._expected = _MEMORY * self._expected + (1 - _MEMORY) * max(seconds, _LEAST_COST)

    def forget(self) -> None:
        """Nobody works or waits: all are equals again."""
        self._addresses = _Clocks()
        self._sessions.clear()


def _weight(requests: list[Request]) -> float:
    return math.sqrt(max(1, len({request.session for request in requests})))
