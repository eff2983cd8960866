"""The gate, with real threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from viz_app.serving.scheduling.request_queue import BatchJob, QueueFull, RequestQueue, Superseded, Ticket, Visitor

PATIENCE = 10.0


def wait_until(condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened in time"
        time.sleep(0.005)


@contextmanager
def all_busy(queue: RequestQueue) -> Iterator[None]:
    """Keep every other request from starting meanwhile."""
    with ExitStack() as held:
        for number in range(queue.slots):
            held.enter_context(queue.slot(held.enter_context(queue.ticket(f"slot {number}"))))
        for number in range(queue.batches):
            ticket = held.enter_context(queue.ticket(f"batch {number}"))
            held.enter_context(queue.batch(ticket, BatchJob()))
        yield


class Worker:
    """A request in its own thread that works until it is released."""

    def __init__(
        self, gate: RequestQueue, session: str, log: list[Any] | None = None, release: threading.Event | None = None
    ) -> None:
        self.gate, self.session, self.log = gate, session, log if log is not None else []
        self.release, self.entered = release or threading.Event(), threading.Event()
        self.positions: list[int] = []
        self.error: BaseException | None = None
        self.ticket: Ticket | None = None
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        try:
            with self.gate.ticket(self.session) as self.ticket:
                self.work(self.ticket)
        except BaseException as error:
            self.error = error

    def work(self, ticket: Ticket) -> None:
        with self.gate.slot(ticket, self.positions.append):
            self.log.append(self.session)
            self.entered.set()
            while not self.release.wait(0.005):
                ticket.check()

    def join(self) -> None:
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()


def busy(gate: RequestQueue, session: str = "busy") -> Worker:
    """A request that works."""
    worker = Worker(gate, session)
    assert worker.entered.wait(PATIENCE)
    return worker


def finish(*workers: Worker) -> None:
    """Let requests end; none fails."""
    for worker in workers:
        worker.release.set()
    for worker in workers:
        worker.join()
        assert worker.error is None


def test_no_more_than_the_slots_work_at_once() -> None:
    gate = RequestQueue(slots=2)
    workers = [Worker(gate, f"s{i}") for i in range(5)]
    wait_until(lambda: gate.working == 2 and gate.waiting == 3)
    time.sleep(0.05)
    assert gate.working == 2
    finish(*workers)
    assert gate.working == 0 and gate.waiting == 0


def test_first_come_first_served_and_each_knows_its_place() -> None:
    gate = RequestQueue(slots=1)
    log: list[str] = []
    workers: list[Worker] = []
    for i in range(4):
        workers.append(Worker(gate, f"s{i}", log))
        wait_until(lambda i=i: gate.working + gate.waiting == i + 1)  # type: ignore[misc]
    for place in (1, 2, 3):
        wait_until(lambda place=place: place in workers[place].positions)  # type: ignore[misc]
    assert workers[0].positions == []
    for ahead, worker in zip((2, 1, 0, 0), workers, strict=True):
        assert worker.entered.wait(PATIENCE)
        finish(worker)
        if ahead:
            wait_until(lambda ahead=ahead: ahead in workers[3].positions)  # type: ignore[misc]
    assert log == ["s0", "s1", "s2", "s3"]


def test_who_works_again_with_the_same_ticket_lets_the_others_go_first() -> None:
    gate, again = RequestQueue(slots=1), threading.Event()
    log: list[str] = []

    def twice() -> None:
        with gate.ticket("twice") as ticket:
            for turn in ("first", "second"):
                with gate.slot(ticket):
                    log.append(turn)
                    again.wait(PATIENCE)

    thread = threading.Thread(target=twice, daemon=True)
    thread.start()
    wait_until(lambda: log == ["first"])
    other = Worker(gate, "other", log)
    wait_until(lambda: gate.waiting == 1)
    again.set()
    finish(other)
    thread.join(PATIENCE)
    assert log == ["first", "other", "second"]


def test_a_newer_request_stops_the_one_that_works() -> None:
    gate = RequestQueue(slots=1)
    old = busy(gate, "same")
    new = Worker(gate, "same")
    old.join()
    assert isinstance(old.error, Superseded)
    assert new.entered.wait(PATIENCE)
    finish(new)


def test_of_many_quick_edits_only_the_newest_runs_to_its_end() -> None:
    gate = RequestQueue(slots=1)
    log: list[str] = []
    other = busy(gate)
    edits = []
    for i in range(6):
        edits.append(Worker(gate, "typing", log))
        wait_until(lambda i=i: all(not edit.thread.is_alive() for edit in edits[:i]) and gate.waiting == 1)  # type: ignore[misc]
    finish(other, edits[-1])
    assert [type(edit.error) for edit in edits] == [Superseded] * 5 + [type(None)]
    assert log == ["typing"]


def test_a_waiter_that_gives_up_makes_room_for_the_next() -> None:
    class Left(BaseException):
        """As Streamlit's own exceptions, this is no Exception."""

    def leave(_: int) -> None:
        raise Left

    gate = RequestQueue(slots=1)
    worker = busy(gate)
    with gate.ticket("leaver") as ticket, pytest.raises(Left), gate.slot(ticket, leave):
        pytest.fail("must not enter")
    assert gate.waiting == 0
    finish(worker)
    with gate.ticket("next") as ticket, gate.slot(ticket):
        assert gate.working == 1


def test_a_failure_inside_gives_the_slot_back() -> None:
    gate = RequestQueue()
    with pytest.raises(RuntimeError), gate.ticket("a") as ticket, gate.slot(ticket):
        raise RuntimeError
    assert gate.working == 0


def test_a_gate_needs_a_slot() -> None:
    with pytest.raises(ValueError, match="slots is 0"):
        RequestQueue(0)


def test_who_is_no_longer_wanted_does_not_cancel_the_newer_request() -> None:
    class Replaced(BaseException):
        """End of a run that another one has replaced."""

    replaced = False

    def check_not_superseded() -> None:
        if replaced:
            raise Replaced

    gate = RequestQueue(1, check_not_superseded)
    with gate.ticket("visitor") as newer:
        replaced = True
        with pytest.raises(Replaced), gate.ticket("visitor"):
            pass
        assert not newer.cancelled


def test_an_address_may_have_so_many_waiting_and_another_is_not_hindered() -> None:
    places = threading.local()
    gate = RequestQueue(1, visitor=lambda: Visitor(getattr(places, "address", "home")), max_waiting=3)
    worker = busy(gate)
    waiting = [Worker(gate, f"s{number}") for number in range(3)]
    wait_until(lambda: gate.waiting == 3)
    with pytest.raises(QueueFull), gate.ticket("one more") as ticket, gate.slot(ticket):
        pytest.fail("must not enter")
    places.address = "elsewhere"
    with gate.ticket("visitor") as ticket:
        entered = threading.Event()

        def enter() -> None:
            with gate.slot(ticket):
                entered.set()

        thread = threading.Thread(target=enter, daemon=True)
        thread.start()
        wait_until(lambda: gate.waiting == 4)
        finish(worker, *waiting)
        assert entered.wait(PATIENCE)
        thread.join(PATIENCE)


def test_who_has_left_gives_up_waiting() -> None:
    present = [True]
    gate = RequestQueue(1)
    worker = busy(gate)
    threading.Timer(0.1, lambda: present.__setitem__(0, False)).start()
    gone = Visitor("1.2.3.4", lambda: present[0])
    with gate.ticket("leaver", gone) as ticket, pytest.raises(Superseded), gate.slot(ticket):
        pytest.fail("must not enter")
    assert gate.waiting == 0
    finish(worker)


# --- requests that are served together --------------------------------------------------------------------------------


class Named(BatchJob):
    """Fits others that begin with the same letter."""

    max_batch_size = 3

    def __init__(self, name: str) -> None:
        self.name = name

    def fits(self, other: BatchJob) -> bool:
        return isinstance(other, Named) and self.name[0] == other.name[0]


class Served(Worker):
    """A request that is served together with others that begin with the same letter, until released.

    The first one of a batch serves all of it: it writes down which.
    """

    def work(self, ticket: Ticket) -> None:
        with self.gate.batch(ticket, Named(self.session)) as batch:
            if batch:
                self.log.append([each.name for each in batch if isinstance(each, Named)])
                assert self.release.wait(PATIENCE)


class Together:
    """A queue whose requests are released together."""

    def __init__(self, batches: int = 1) -> None:
        self.queue, self.release = RequestQueue(1, batches=batches), threading.Event()
        self.batches: list[list[str]] = []

    def ask(self, *names: str) -> list[Worker]:
        """Requests that come in this order."""
        workers: list[Worker] = []
        for name in names:
            before = self.queue.waiting
            workers.append(Served(self.queue, name, self.batches, self.release))
            wait_until(lambda before=before: self.queue.waiting == before + 1)  # type: ignore[misc]
        return workers


@pytest.fixture
def together() -> Iterator[Together]:
    result = Together()
    yield result
    result.release.set()


def test_what_is_alike_is_served_together_in_the_order_of_turns(together: Together) -> None:
    queue, batches = together.queue, together.batches
    with all_busy(queue):
        requests = together.ask("a1", "b1", "a2", "a3", "a4", "b2")
    wait_until(lambda: bool(batches))
    assert batches == [["a1", "a2", "a3"]] and queue.working == 1, "three at most"
    for taken in (requests[2], requests[3]):
        taken.join()  # has nothing to do but wait for its result
    finish(*requests)
    assert batches == [["a1", "a2", "a3"], ["b1", "b2"], ["a4"]]
    assert queue.working == queue.waiting == 0


def test_batches_at_the_same_time_share_those_that_wait() -> None:
    together = Together(batches=2)
    queue, batches = together.queue, together.batches
    queue._free[True] = 0
    requests = together.ask("a0", "a1", "a2", "a3")
    with queue._lock:  # both end at the same moment
        queue._free[True] = 2
        queue._reorder(queue._waiting)
    wait_until(lambda: len(batches) == 2)
    assert [len(batch) for batch in batches] == [2, 2]
    finish(*requests)


def test_a_batch_and_a_request_alone_do_not_wait_for_each_other(together: Together) -> None:
    queue, batches = together.queue, together.batches
    alone = busy(queue, "alone")
    request = Served(queue, "a1", batches, together.release)
    wait_until(lambda: batches == [["a1"]])
    second = Worker(queue, "second")
    wait_until(lambda: queue.waiting == 1)
    alone.release.set()
    assert second.entered.wait(PATIENCE)
    finish(alone, second, request)


def test_who_is_cancelled_while_another_one_serves_it_counts_no_more(together: Together) -> None:
    queue, batches = together.queue, together.batches
    with all_busy(queue):
        first, second = together.ask("a1", "a2")
    wait_until(lambda: len(batches) == 1)
    second.join()
    (third,) = together.ask("a3")
    assert third.ticket is not None
    third.ticket.cancel()
    third.join()
    assert isinstance(third.error, Superseded)
    finish(first)
    assert queue.working == queue.waiting == 0 and not queue._share._present


def test_whoever_is_served_with_others_pays_for_its_part(together: Together) -> None:
    with all_busy(together.queue):
        requests = together.ask("a0", "a1", "a2")
    time.sleep(0.3)
    finish(*requests)
    paid = [together.queue._share._last[each.session] for each in requests]
    assert max(paid) < 0.2 < sum(paid)
