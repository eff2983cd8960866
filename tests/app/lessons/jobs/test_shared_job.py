"""A job that all sessions share: it ends when nobody watches, rests, gives way, and survives its failures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.app.lessons.jobs.finished import finished
from viz_app.lessons.jobs.shared_job import SharedJob
from viz_app.serving.scheduling import background_throttle
from viz_app.serving.scheduling.background_throttle import Busy, never_busy


class Counting(SharedJob):
    """Counts its slices; `each` is called in every one."""

    def __init__(self, slices: int, pace: float = 0.0, each: Callable[[], None] = lambda: None, **options: Any) -> None:
        super().__init__("counting", pace, **options)
        self.slices, self.each, self.done = slices, each, 0

    def start(self, busy: Busy = never_busy) -> bool:
        return self._start(self._work, self.slices, busy)

    def _work(self) -> Iterator[None]:
        while True:
            self.each()
            self.done += 1
            yield


def test_it_ends_when_nobody_watches_and_goes_on_while_somebody_does() -> None:
    time = [0.0]

    def alone(seconds: float) -> None:
        time[0] += 3.0
        assert job.state == "running"  # to ask is not to watch

    job = Counting(50, patience=10.0, clock=lambda: time[0], pause=alone)
    job.start()
    assert finished(job).state == "left"
    assert job.done == 4, "slices at 0, 3, 6 and 9 seconds, none at 12"

    def watched(seconds: float) -> None:
        time[0] += 3.0
        again.throttle.watch()

    again = Counting(6, patience=10.0, clock=lambda: time[0], pause=watched)
    again.start()
    assert finished(again).state == "done" and again.done == 6


def test_it_can_be_stopped_and_started_again() -> None:
    def pause(seconds: float) -> None:
        job.stop()

    job = Counting(4, pause=pause)
    assert job.start() and finished(job).state == "stopped" and job.done == 1
    assert job.start() and finished(job).number == 2


@pytest.mark.parametrize(("pace", "least"), [(1000.0, 900.0), (0.0, 1e-9)])
def test_it_rests_by_the_clock_and_at_least_in_proportion_to_its_work(pace: float, least: float) -> None:
    rests: list[float] = []
    job = Counting(3, pace, pause=rests.append)
    job.start()
    finished(job)
    assert len(rests) == 3 and min(rests) > least


def test_it_gives_way_but_not_for_ever() -> None:
    rests: list[float] = []
    job = Counting(2, 5.0, pause=rests.append)
    asked = iter([True, True, True, False])
    job.start(busy=lambda: next(asked, True))
    finished(job)
    waits = [rest == background_throttle.YIELD for rest in rests]
    assert waits == [True] * 3 + [False] + [True] * background_throttle.MAX_YIELDS + [False]


def test_a_failure_ends_the_run_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise RuntimeError("no memory")

    job = Counting(3, each=fail)
    job.start()
    assert finished(job).state == "failed" and "counting failed" in caplog.text
    assert job.start(), "another one may start"
    finished(job)
