"""Fair turns and the rate of an address: simulated on a clock of their own, without threads."""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viz_app.serving.scheduling import rate_limit
from viz_app.serving.scheduling.fair_share import Charge, FairShare, Request
from viz_app.serving.scheduling.rate_limit import RateLimit

Client = tuple[str, str]  # address and session


class Server:
    """One slot; `clients` ask again when they are served, after a pause, each with the seconds of its requests."""

    def __init__(
        self, clients: dict[tuple[str, str], float], pauses: dict[tuple[str, str], float] | None = None
    ) -> None:
        self.share, self.clients, self.pauses = FairShare(), clients, pauses or {}
        self.later: list[tuple[float, Client]] = []
        self.now, self.arrivals = 0.0, itertools.count()
        self.waiting: list[Request] = []
        self.working: list[tuple[float, int, Request, Charge, float]] = []
        self.served: defaultdict[tuple[str, str], float] = defaultdict(float)
        self.waits: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
        self.since: dict[int, float] = {}
        for address, session in clients:
            self.ask(address, session)

    def ask(self, address: str, session: str) -> None:
        request = Request(session, next(self.arrivals), address)
        self.since[request.arrival] = self.now
        self.share.arrive(request)
        self.waiting.append(request)

    def run(self, until: float) -> None:
        while self.now < until:
            while self.waiting and not self.working:
                request = self.share.order(self.waiting)[0]
                who = request.address, request.session
                self.waits[who].append(self.now - self.since[request.arrival])
                charge = self.share.begin(request)
                self.waiting.remove(request)
                cost = self.clients[who]
                heapq.heappush(self.working, (self.now + cost, request.arrival, request, charge, cost))
            self.now, _, request, charge, cost = heapq.heappop(self.working)
            who = request.address, request.session
            self.share.end(request, charge, cost)
            self.served[who] += cost
            heapq.heappush(self.later, (self.now + self.pauses.get(who, 0.0), who))
            while self.later and (self.later[0][0] <= self.now or not self.waiting):
                at, who = heapq.heappop(self.later)
                self.now = max(self.now, at)
                self.ask(*who)

    def of_address(self, address: str) -> float:
        return sum(seconds for (place, _), seconds in self.served.items() if place == address)


def test_two_addresses_with_a_session_each_share_evenly_whatever_their_requests_cost() -> None:
    server = Server({("a", "1"): 3.0, ("b", "1"): 0.5})
    server.run(600)
    assert server.of_address("a") == pytest.approx(server.of_address("b"), rel=0.02)


def test_the_sessions_of_an_address_take_turns() -> None:
    server = Server({("a", "heavy"): 3.0, ("a", "light"): 0.5, ("a", "other"): 1.0})
    server.run(900)
    assert [server.served["a", name] / 300 for name in ("heavy", "light", "other")] == pytest.approx([1] * 3, rel=0.03)


def test_many_sessions_of_one_address_weigh_as_their_square_root() -> None:
    clients = {("flood", str(number)): 2.0 for number in range(25)} | {("home", "me"): 1.0}
    server = Server(clients)
    server.run(3000)
    assert server.of_address("flood") / server.of_address("home") == pytest.approx(5, rel=0.1)
    # 25 times 2 seconds are ahead of who comes last when the first to come is served first.
    assert max(server.waits["home", "me"]) < 10


@pytest.mark.parametrize("address", ["same", "other"])
def test_a_short_request_waits_for_what_runs_and_not_for_twenty_long_ones(address: str) -> None:
    clients = {("same", str(number)): 3.0 for number in range(20)} | {(address, "me"): 0.15}
    server = Server(clients, {(address, "me"): 7.0})
    server.run(900)
    waits = server.waits[address, "me"][1:]  # at the start nobody knows what a session's requests cost
    assert max(waits) <= 3.0 + 0.01
    assert len(waits) > 80


def test_a_known_short_request_waits_for_two_of_twenty_new_sessions_at_most() -> None:
    server = Server({("same", "me"): 0.15})
    server.run(10)
    for number in range(20):
        server.clients["same", str(number)] = 3.0
        server.ask("same", str(number))
    server.run(40)
    # What they cost nobody knows before the first one has been served.
    assert max(server.waits["same", "me"]) <= 2 * 3.0


def test_nobody_saves_up_turns_while_away() -> None:
    server = Server({("a", "busy"): 1.0, ("a", "other"): 1.0})
    server.run(100)
    server.clients["b", "late"] = 1.0
    server.ask("b", "late")
    server.served.clear()
    server.run(130)
    # Two sessions weigh as their square root; before, b would have had the slot for 100 seconds.
    assert server.of_address("b") == pytest.approx(30 / (1 + 2**0.5), abs=2)


def test_who_was_alone_is_not_held_to_account() -> None:
    share = FairShare()
    for arrival in range(10):
        request = Request("alone", arrival, "a")
        share.arrive(request)
        share.end(request, share.begin(request), 1.0)
    late, alone = [Request(f"late{number}", 10 + number, "b") for number in range(5)], Request("alone", 20, "a")
    for request in (*late, alone):
        share.arrive(request)
    share.end(late[0], share.begin(late[0]), 100.0)
    share.end(late[1], share.begin(late[1]), 100.0)
    assert share.order([*late[2:], alone])[0] is alone


requests = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("1234")), max_size=30)


@given(requests, st.lists(st.floats(0.01, 5), min_size=30, max_size=30))
def test_the_plan_is_what_serving_gives_while_all_cost_what_is_expected(
    made: list[tuple[str, str]], costs: list[float]
) -> None:
    """The order promised at once, and that of asking again after each request."""
    share = FairShare()
    waiting = [Request(session, arrival, address) for arrival, (address, session) in enumerate(made)]
    for request in waiting:
        share.arrive(request)
    for request, cost in zip(waiting[:10], costs, strict=False):  # some sessions have a past
        share.end(request, share.begin(request), cost)
    left = waiting[10:]
    planned = share.order(left)
    assert sorted(each.arrival for each in planned) == [each.arrival for each in left]
    for expected in planned:
        assert share.order(left)[0] is expected
        share.begin(expected)  # it works on, so that no weight changes
        left.remove(expected)


def test_what_was_served_long_ago_is_forgotten() -> None:
    share = FairShare()
    first = Request("first", 0, "first")
    share.arrive(first)
    for arrival in range(1, 3000):
        request = Request(str(arrival), arrival, str(arrival % 1500))
        share.arrive(request)
        share.end(request, share.begin(request), 0.5)
        if arrival % 100 == 0:
            share.end(first, share.begin(first), 10.0)
            share.arrive(first)
    assert len(share._last) <= 1_000 and len(share._addresses.used) < 200 and len(share._sessions) < 200


def test_a_burst_passes_then_so_many_a_second() -> None:
    now = [0.0]
    limit = RateLimit(2, 5, lambda: now[0])
    assert [limit.allows("a") for _ in range(7)] == [True] * 5 + [False] * 2
    now[0] = 1.0
    assert [limit.allows("a") for _ in range(3)] == [True, True, False]
    assert limit.allows("b")  # others are not held up
    now[0] = 1_000.0
    assert sum(limit.allows("a") for _ in range(10)) == 5  # nobody saves up


def test_few_addresses_are_remembered() -> None:
    limit = RateLimit(1, 1, lambda: 0.0)
    for number in range(rate_limit._MAX_PARTIES + 10):
        assert limit.allows(str(number))
    assert len(limit._buckets) == rate_limit._MAX_PARTIES
    assert not limit.allows(str(number))
