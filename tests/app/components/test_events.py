"""The numbers of events, in the browser and on the side of Python."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from viz_app.components import events
from viz_app.components.explorer import mount as explorer

# The clock of a machine: it goes on, stands still, is set back by a day, and goes on from there.
CLOCK = [1_000_000_000_000, 1_000_000_000_005, 1_000_000_000_005, 999_913_600_000, 999_913_600_007, 999_913_600_020]
SET = f"const clock = {CLOCK}; let at = 0; Date.now = () => clock[Math.min(at++, clock.length - 1)];"


def test_numbers_rise_when_the_clock_is_set_back_and_a_component_is_mounted_anew(
    javascript: Callable[[str], Any],
) -> None:
    numbers = javascript(
        f"""{SET}
        const first = await import("./components/common/page/events.js");
        const anew = await import("./components/common/page/events.js?anew");
        const both = [first, anew, first, anew, anew, first, anew];
        console.log(JSON.stringify([first !== anew, both.map((each) => each.eventId())]));"""
    )
    assert numbers[0], "the second import is the same module, which tests nothing"
    assert all(before < after for before, after in pairwise(numbers[1])), numbers
    assert numbers[1][0] == CLOCK[0]


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "st", SimpleNamespace(session_state={}))


@pytest.mark.usefixtures("session")
def test_an_event_is_answered_once() -> None:
    assert events.last_answered("news") == 0
    assert events.new_event("news", 7) == 7
    assert events.new_event("news", 7) == 7, "it was asked about, but not answered"
    events.answered("news", 7)
    assert events.new_event("news", 7) is None and events.new_event("news", 6) is None
    assert events.new_event("news", 8) == 8 and events.new_event("news", 8.0) == 8
    assert events.new_event("index", 1) == 1, "another component counts for itself"
    assert events.last_answered("news") == 7
    pressed = {"name": "start", "id": 5}
    assert events.new_named_event("named", pressed) == ("start", 5)
    events.answered("named", 5)
    assert events.new_named_event("named", pressed) is None
    assert events.new_named_event("named", pressed | {"id": 6}) == ("start", 6)


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize("odd", [None, "8", True, 0, -1, 0.5, float("nan"), float("inf"), 1e308, 2**53, [1], {"id": 1}])
def test_what_is_no_number_of_an_event_is_not_answered(odd: object) -> None:
    assert events.new_event("news", odd) is None


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize("odd", [None, "open", 7, [], {}, {"name": "a"}, {"id": 1}, {"name": 3, "id": 1}])
def test_an_event_without_name_and_number_is_none(odd: object) -> None:
    assert events.new_named_event("named", odd) is None


@pytest.mark.parametrize(("told", "wanted"), [({"seen": 3}, 3), ({}, None), (None, None), ("seen", None)])
def test_a_state_is_read_before_its_component_is_mounted(
    told: object, wanted: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "st", SimpleNamespace(session_state={"growth": told}))
    assert events.last_report("growth", "seen") == wanted
    assert events.last_report("another", "seen") is None


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize(
    ("text", "read"), [("He reads.", True), ("", False), ("a" * 501, False), ("\ud800", False), (7, False)]
)
def test_the_sentence_of_an_example_is_told_until_it_is_shown(
    monkeypatch: pytest.MonkeyPatch, text: object, read: bool
) -> None:
    monkeypatch.setattr(events, "last_report", lambda *_: {"name": text, "id": 5})
    assert explorer.asked_sentence("here") == ((text, 5) if read else None)
    assert explorer.asked_sentence("here") == ((text, 5) if read else None)
    explorer.sentence_shown("here", 5)
    assert explorer.asked_sentence("here") is None
