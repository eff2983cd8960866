"""The single-flight cache, with real threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.app.serving.scheduling.test_request_queue import PATIENCE, wait_until
from viz_app.serving.scheduling.request_queue import RequestQueue, Superseded, Ticket
from viz_app.serving.scheduling.single_flight_cache import SingleFlightCache


def cache_of(entries: int = 8, size: int = 10_000) -> SingleFlightCache[str]:
    return SingleFlightCache(entries, size, len)


def in_thread(function: Callable[[], object]) -> tuple[threading.Thread, list[Any]]:
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append(function())
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, outcome


def test_thirty_equal_requests_are_one_computation() -> None:
    cache, calls, go = cache_of(), [], threading.Event()

    def compute(_: object) -> str:
        calls.append(1)
        assert go.wait(PATIENCE)
        return "done"

    runs = [in_thread(lambda i=i: cache.get("key", compute, Ticket(f"s{i}"))) for i in range(30)]  # type: ignore[misc]
    wait_until(lambda: len(calls) == 1)
    go.set()
    for thread, _ in runs:
        thread.join(PATIENCE)
    assert [outcome for _, outcome in runs] == [["done"]] * 30
    assert len(calls) == 1
    assert cache.get("key", lambda _: pytest.fail("must be cached"), Ticket("late")) == "done"


def test_different_requests_do_not_wait_for_each_other() -> None:
    cache, go = cache_of(), threading.Event()
    thread, outcome = in_thread(lambda: cache.get("slow", lambda _: str(go.wait(PATIENCE)), Ticket("a")))
    assert cache.get("quick", lambda _: "now", Ticket("b")) == "now"
    go.set()
    thread.join(PATIENCE)
    assert outcome == ["True"]


def test_an_abandoned_computation_hears_of_it() -> None:
    cache, ticket, started = cache_of(), Ticket("a"), threading.Event()

    def compute(unwanted: Callable[[], bool]) -> str:
        started.set()
        wait_until(unwanted)
        raise Superseded

    thread, outcome = in_thread(lambda: cache.get("key", compute, ticket))
    assert started.wait(PATIENCE)
    ticket.cancel()
    thread.join(PATIENCE)
    assert isinstance(outcome[0], Superseded)
    assert len(cache) == 0


class Pair:
    """Two who ask for the same, of whom the first computes it until it may go on."""

    def __init__(self, lead: Callable[[Callable[[], bool]], str], follow: Callable[[object], str]) -> None:
        self.cache, self.leader, self.go = cache_of(), Ticket("leader"), threading.Event()
        started = threading.Event()

        def compute(unwanted: Callable[[], bool]) -> str:
            started.set()
            assert self.go.wait(PATIENCE)
            return lead(unwanted)

        self.first = in_thread(lambda: self.cache.get("key", compute, self.leader))
        assert started.wait(PATIENCE)
        self.second = in_thread(lambda: self.cache.get("key", follow, Ticket("follower")))
        wait_until(lambda: next(iter(self.cache._flights.values())).followers == 1)

    def outcomes(self) -> list[Any]:
        """Results or errors of both."""
        self.go.set()
        for thread, _ in (self.first, self.second):
            thread.join(PATIENCE)
        return [outcome[0] for _, outcome in (self.first, self.second)]


def once_only(_: object) -> str:
    pytest.fail("once only")


def test_a_computation_goes_on_while_somebody_else_waits_for_it() -> None:
    pair = Pair(lambda unwanted: f"unwanted: {unwanted()}", once_only)
    pair.leader.cancel()
    assert pair.outcomes()[1] == "unwanted: False"


def test_a_follower_takes_over_when_the_leader_gives_up() -> None:
    def give_up(_: object) -> str:
        raise Superseded

    lost, outcome = Pair(give_up, lambda _: "mine").outcomes()
    assert isinstance(lost, Superseded) and outcome == "mine"


def test_a_failure_reaches_everybody_and_is_not_kept() -> None:
    def fail(_: object) -> str:
        raise RuntimeError("no")

    pair = Pair(fail, once_only)
    assert all(isinstance(each, RuntimeError) for each in pair.outcomes())
    assert pair.cache.get("key", lambda _: "again", Ticket("c")) == "again"


class Left(BaseException):
    """End of a run of Streamlit: no `Exception`."""


@pytest.mark.parametrize("how", ["asks for something else", "leaves"])
def test_who_waited_with_another_keeps_the_place_when_that_one_goes(how: str) -> None:
    gate, cache, gone = RequestQueue(1), cache_of(), threading.Event()
    log: list[str] = []

    def ask(session: str, key: str) -> str:
        def told(_: int) -> None:
            if (session, key) == ("A", "X") and gone.is_set():
                raise Left

        def compute(_: object) -> str:
            with gate.slot(ticket, told):
                log.append(f"{session}:{key}")
                return key

        with gate.ticket(session) as ticket:
            return cache.get(key, compute, ticket)

    def leader() -> str:
        try:
            return ask("A", "X")
        except Left:
            return "left"

    with gate.ticket("busy") as busy, gate.slot(busy):
        first = in_thread(leader)
        wait_until(lambda: gate.waiting == 1)
        second = in_thread(lambda: ask("B", "X"))
        wait_until(lambda: cache._flights["X"].followers == 1)
        third = in_thread(lambda: ask("C", "Y"))
        wait_until(lambda: gate.waiting == 2)
        if how == "leaves":
            gone.set()
            first[0].join(PATIENCE)
        fourth = in_thread(lambda: ask("A", "Z"))
        first[0].join(PATIENCE)
        wait_until(lambda: gate.waiting == 3)
    for thread, _ in (second, third, fourth):
        thread.join(PATIENCE)
    assert log == ["B:X", "C:Y", "A:Z"]
    assert [outcome for _, outcome in (second, third, fourth)] == [["X"], ["Y"], ["Z"]]
    assert first[1] == ["left"] or isinstance(first[1][0], Superseded)


def test_the_least_recently_used_goes_first() -> None:
    cache = cache_of(entries=2)
    for key in ("a", "b", "a", "c"):
        cache.get(key, lambda _, key=key: key * 3, Ticket("s"))  # type: ignore[misc]
    assert cache.get("a", lambda _: "computed again", Ticket("s")) == "aaa"
    assert cache.get("b", lambda _: "computed again", Ticket("s")) == "computed again"
    assert len(cache) == 2


def test_bytes_are_bounded() -> None:
    cache = cache_of(size=10)
    for key in ("1", "2", "3"):
        cache.get(key, lambda _, key=key: key * 4, Ticket("s"))  # type: ignore[misc]
    assert (len(cache), cache.nbytes) == (2, 8)
    assert cache.get("big", lambda _: "x" * 11, Ticket("s")) == "x" * 11
    assert (len(cache), cache.nbytes) == (2, 8), "a value that can never fit throws nothing out"
