"""One page is drawn at a time, with real threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from tests.app.serving.scheduling.test_request_queue import PATIENCE
from tests.app.serving.scheduling.test_single_flight_cache import in_thread
from viz_app.serving.scheduling.render_lock import render_lock, without_render_lock
from viz_app.serving.scheduling.request_queue import RequestQueue, Superseded, Visitor
from viz_app.serving.scheduling.single_flight_cache import SingleFlightCache


def turns(is_present: Callable[[], bool] = lambda: True) -> RequestQueue:
    """Of runs that are each a visitor of their own."""
    return RequestQueue(1, visitor=lambda: Visitor(threading.current_thread().name, is_present))


def draw_as(session: str, queue: RequestQueue, drawn: threading.Event) -> Callable[[], None]:
    """A run of a session."""

    def run() -> None:
        with render_lock(queue, session):
            drawn.set()

    return run


def test_a_second_run_is_drawn_after_the_first() -> None:
    queue, second = turns(), threading.Event()
    with render_lock(queue):
        thread, _ = in_thread(draw_as("b", queue, second))
        assert not second.wait(0.1)
    assert second.wait(PATIENCE)
    thread.join(PATIENCE)
    assert (queue.working, queue.waiting) == (0, 0)


def test_others_draw_while_a_run_waits_for_the_model() -> None:
    queue, second = turns(), threading.Event()
    cache: SingleFlightCache[str] = SingleFlightCache(10, 100, len)
    model = RequestQueue()

    def compute(_: object) -> str:
        in_thread(draw_as("b", queue, second))
        assert second.wait(PATIENCE), "nobody else could draw"
        return "translation"

    with render_lock(queue):
        assert cache.get_in_turn("key", compute, model, "a") == "translation"
        third = threading.Event()
        in_thread(draw_as("c", queue, third))
        assert not third.wait(0.1), "the turn came back after the model had answered"
        assert cache.get_in_turn("key", compute, model, "a") == "translation"
        assert not third.is_set(), "what is cached needs no pause"
    assert third.wait(PATIENCE)


def test_a_run_that_fails_gives_its_turn_up() -> None:
    queue = turns()
    with pytest.raises(ValueError, match="broken"), render_lock(queue):
        raise ValueError("broken")
    with pytest.raises(ValueError, match="broken"), render_lock(queue), without_render_lock():
        raise ValueError("broken")
    assert queue.working == 0
    with render_lock(queue):
        assert queue.working == 1


def test_a_run_whose_visitor_leaves_meanwhile_does_not_draw_on() -> None:
    present = threading.Event()
    present.set()
    queue, drawn_on = turns(present.is_set), False
    with suppress(Superseded), render_lock(queue):
        with without_render_lock():
            present.clear()
        drawn_on = True
    assert not drawn_on
    assert queue.working == 0


def test_a_newer_run_of_the_session_takes_the_place_of_one_that_waits() -> None:
    queue = turns()
    outcome: list[str] = []

    def waiting() -> None:
        try:
            with render_lock(queue):
                outcome.append("drawn")
        except Superseded:
            outcome.append("superseded")

    with queue.ticket("other") as ticket, queue.slot(ticket):
        old, _ = in_thread(waiting)
        while queue.waiting == 0:
            time.sleep(0.005)
        new, _ = in_thread(waiting)
        old.join(PATIENCE)
        assert outcome == ["superseded"]
    new.join(PATIENCE)
    assert outcome == ["superseded", "drawn"]


def test_outside_of_a_turn_there_is_nothing_to_give_up() -> None:
    with without_render_lock():
        pass


def test_a_computation_within_another_does_not_take_the_turn() -> None:
    queue, inner, outer = turns(), threading.Event(), threading.Event()
    with render_lock(queue):
        with without_render_lock():
            with without_render_lock():
                pass
            in_thread(draw_as("b", queue, inner))
            assert inner.wait(PATIENCE), "the inner computation took the turn while the outer one goes on"
        in_thread(draw_as("c", queue, outer))
        assert not outer.wait(0.1)
    assert outer.wait(PATIENCE)
