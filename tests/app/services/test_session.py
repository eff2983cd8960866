"""Clicks that no run may lose, and the way to another page."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from viz_app.services import session


class Replaced(Exception):
    """What Streamlit raises in a run when another one waits."""


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The state of a session that has just begun."""
    kept: dict[str, Any] = {}
    context = SimpleNamespace(locale="en-US")
    monkeypatch.setattr(session, "st", SimpleNamespace(session_state=kept, query_params={}, context=context))
    session.start()
    return kept


def test_what_a_click_asks_for_is_done_once_by_the_next_start(state: dict[str, Any]) -> None:
    done: list[str] = []
    ask = session.surely(done.append, "removed")
    ask()
    assert done == []  # a callback may be ended by its first look at the state, so it does nothing itself
    session.start()
    session.start()
    assert done == ["removed"]


def test_a_run_that_is_replaced_leaves_the_rest_to_the_next(state: dict[str, Any]) -> None:
    done: list[str] = []
    hindrances = [Replaced(), None]

    def act(name: str) -> None:
        if hindrance := hindrances.pop(0):
            raise hindrance
        done.append(name)

    session.surely(act, "first")()
    session.surely(done.append, "second")()
    with pytest.raises(Replaced):
        session.start()
    session.start()
    assert done == ["first", "second"]


def test_a_page_is_wanted_until_it_is_there(state: dict[str, Any]) -> None:
    assert session.wanted("translate") is None
    session.go("figures")
    assert session.wanted("translate") == "figures"
    assert session.wanted("lessons") == "figures"  # a run that came in between drew another page
    assert session.wanted("figures") is None
    assert session.wanted("translate") is None
