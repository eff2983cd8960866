"""Reports of components: states, and events, each answered once.

A component keeps an event as its state, `{"name": ..., "id": eventId()}` (common/page/events.js). So the browser
reports it with every run; a trigger would be lost with a run that another one replaces.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import streamlit as st

_LARGEST = 2**53  # the first number without a successor in JavaScript


def keep() -> None:
    """Do nothing: Streamlit keeps a state only if it has a callback."""


def last_report(key: str, state: str) -> object:
    """Return the state that the browser reported last, or None. Works before the component is mounted in this run."""
    report: Any = st.session_state.get(key)
    return report.get(state) if isinstance(report, Mapping) else None


def new_report(key: str, event: object) -> tuple[int, Mapping[str, Any]] | None:
    """Return number and content of an event `{"id": ..., ...}` that has no answer in this session yet, else None."""
    number = new_event(key, event.get("id")) if isinstance(event, Mapping) else None
    return (number, cast(Mapping[str, Any], event)) if number is not None else None


def new_named_event(key: str, event: object) -> tuple[str, int] | None:
    """Return name and number of an event `{"name": ..., "id": ...}` without an answer in this session, else None."""
    report = new_report(key, event)
    name = report and report[1].get("name")
    return (name, report[0]) if report and isinstance(name, str) else None


def new_event(key: str, event: object) -> int | None:
    """Return the number of an event without an answer in this session, else None.

    Args:
        key: Of the component.
        event: The number as the browser reports it.
    """
    number = int(event) if isinstance(event, float) and event.is_integer() else event
    if not isinstance(number, int) or isinstance(number, bool):
        return None
    return number if last_answered(key) < number < _LARGEST else None


def last_answered(key: str) -> int:
    """Return the number of the last event with an answer in this session; 0 before the first."""
    number: int = st.session_state.get(_of(key), 0)
    return number


def answered(key: str, event: int) -> None:
    """Remember the number of an event. Call it after the action: a replaced run then leaves the event to the next."""
    st.session_state[_of(key)] = event


def _of(key: str) -> str:
    return f"{key}-answered"
