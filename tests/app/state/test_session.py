"""Clicks that no run may lose, and the way to another page."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from viz_app.state import session


class Replaced(BaseException):
    """Raised by Streamlit in a run when another one waits: no `Exception`."""


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The state of a session that has just begun."""
    kept: dict[str, Any] = {}
    context = SimpleNamespace(locale="en-US")
    monkeypatch.setattr(session, "st", SimpleNamespace(session_state=kept, query_params={}, context=context))
    session.initialise()
    return kept


def test_what_a_click_asks_for_is_done_once_by_the_next_run(state: dict[str, Any]) -> None:
    done: list[str] = []
    ask = session.enqueue_callback(done.append, "removed")
    ask()
    assert done == []  # a callback may be ended by its first look at the state, so it does nothing itself
    session.run_pending_callbacks()
    session.run_pending_callbacks()
    assert done == ["removed"]


def test_a_run_that_is_replaced_leaves_the_rest_to_the_next(state: dict[str, Any]) -> None:
    done: list[str] = []
    hindrances = [Replaced(), None]

    def act(name: str) -> None:
        if hindrance := hindrances.pop(0):
            raise hindrance
        done.append(name)

    session.enqueue_callback(act, "first")()
    session.enqueue_callback(done.append, "second")()
    with pytest.raises(Replaced):
        session.run_pending_callbacks()
    session.run_pending_callbacks()
    assert done == ["first", "second"]


def test_a_click_that_fails_is_told_once_and_stops_no_other(state: dict[str, Any]) -> None:
    done: list[str] = []

    def fail() -> None:
        done.append("failed")
        raise RuntimeError("no such figure")

    session.enqueue_callback(fail)()
    session.enqueue_callback(done.append, "second")()
    with pytest.raises(RuntimeError, match="no such figure"):
        session.run_pending_callbacks()
    session.run_pending_callbacks()
    assert done == ["failed", "second"]


def test_a_page_is_wanted_until_it_is_there(state: dict[str, Any]) -> None:
    assert session.pending_page("translate") is None
    session.navigate_to("figures")
    assert session.pending_page("translate") == "figures"
    assert session.pending_page("lessons") == "figures"  # a run that came in between drew another page
    assert session.pending_page("figures") is None
    assert session.pending_page("translate") is None
