"""Progress of a long computation: its questions and its expectation become seconds and a share."""

from __future__ import annotations

import pytest

from transformer_core.progress import expect
from viz_app.ui.lessons import long_computation


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("viz_app.ui.lessons.long_computation.time.monotonic", lambda: now[0])
    return now


def test_every_second_is_told_once_with_the_share_that_is_done(clock: list[float]) -> None:
    told: list[tuple[int, float | None]] = []
    watch = long_computation._Watch(lambda: False, lambda seconds, share: told.append((seconds, share)))
    clock[0] += 1.2
    assert watch() is False and told == [(1, None)], "nobody has said how much there is to do"
    expect(watch, 4)
    assert watch() is False and len(told) == 1, "still the first second"
    clock[0] += 1
    watch()
    assert told[1:] == [(2, 3 / 5)], "one before, and two of the four"
    for _ in range(7):
        clock[0] += 1
        watch()
    assert told[-1] == (9, 1.0), "never more than all"


def test_it_stops_when_the_question_says_so(clock: list[float]) -> None:
    assert long_computation._Watch(lambda: True, lambda *_: None)() is True
    expect(lambda: True, 3)  # one that cannot hear it
    expect(None, 3)
