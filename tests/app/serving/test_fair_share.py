"""Fair turns: simulated on a clock of their own, without threads."""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viz_app.serving.fair_share import FairShare, Request


class Server:
    """One slot; `clients` ask again as soon as they are served, each request taking `cost` seconds."""

    def __init__(self, clients: dict[tuple[str, str], float], slots: int = 1) -> None:
        self.share, self.clients, self.slots = FairShare(), clients, slots
        self.now, self.arrivals = 0.0, itertools.count()
        self.waiting: list[Request] = []
        self.working: list[tuple[float, int, Request, float, float]] = []
        self.served: defaultdict[tuple[str, str], float] = defaultdict(float)
        self.waits: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
        self.since: dict[int, float] = {}
        for address, session in clients:
            self.ask(address, session)

    def ask(self, address: str, session: str) -> None:
        request = Request(session, next(self.arrivals), address)
        self.since[request.arrival] = self.now
        self.waiting.append(request)

    def run(self, until: float) -> None:
        while self.now < until:
            while self.waiting and len(self.working) < self.slots:
                request = self.share.order(self.waiting)[0]
                who = request.address, request.session
                self.waits[who].append(self.now - self.since[request.arrival])
                weight = self.share.begin(request, self.waiting)
                self.waiting.remove(request)
                cost = self.clients[who]
                heapq.heappush(self.working, (self.now + cost, request.arrival, request, weight, cost))
            self.now, _, request, weight, cost = heapq.heappop(self.working)
            who = request.address, request.session
            self.share.end(request, weight, cost)
            self.served[who] += cost
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
    assert max(server.waits["home", "me"][1:]) < 15


def test_a_class_of_thirty_behind_one_router_is_served_in_turn_while_one_visitor_comes_from_elsewhere() -> None:
    clients = {("school", str(number)): 0.5 for number in range(30)} | {("home", "me"): 0.5}
    server = Server(clients)
    server.run(600)
    assert server.of_address("school") / 600 > 0.8  # the square root of 30 against 1
    turns = [len(server.waits["school", str(number)]) for number in range(30)]
    assert max(turns) - min(turns) <= 1


def test_nobody_saves_up_turns_while_away() -> None:
    share = FairShare()
    for arrival in range(10):
        request = Request("busy", arrival, "a")
        share.end(request, share.begin(request, [request]), 1.0)
    late, busy = Request("late", 10, "b"), Request("busy", 11, "a")
    order = share.order([*(Request("late", 12 + i, "b") for i in range(5)), late, busy])
    assert order.index(busy) <= 2  # of equal weight: one each in turn


requests = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("1234")), max_size=30)


@given(requests)
def test_the_plan_is_what_serving_one_by_one_gives(made: list[tuple[str, str]]) -> None:
    """The order promised at once, and that of asking again after each request of the expected cost."""
    waiting = [Request(session, arrival, address) for arrival, (address, session) in enumerate(made)]
    share, served = FairShare(), []
    weights = {address: len({r.session for r in waiting if r.address == address}) ** 0.5 for address in "abc"}
    planned = share.order(waiting)
    left = list(waiting)
    while left:
        following = share.order(left)[0]
        served.append(following)
        # As `begin` and `end`, but with the weight that the plan knows: it does not foresee that sessions leave.
        share._addresses.serve(following.address, share._expected / weights[following.address])
        share._sessions[following.address].serve(following.session, share._expected)
        left.remove(following)
    assert [r.arrival for r in served[:1]] == [r.arrival for r in planned[:1]]
    assert sorted(r.arrival for r in planned) == [r.arrival for r in waiting]


def test_what_was_served_long_ago_is_forgotten() -> None:
    share = FairShare()
    for arrival in range(1000):
        request = Request(str(arrival), arrival, str(arrival % 100))
        share.end(request, share.begin(request, [request]), 0.5)
    assert len(share._addresses.finish) < 200
