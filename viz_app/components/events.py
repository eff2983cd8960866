"""What components tell: states, and events, each answered once.

A component keeps an event as its state, `{"name": ..., "id": eventId()}` (common/events.js), so the browser tells it
again with every run: a trigger would be lost with a run that another one replaces.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

_LARGEST = 2**53  # from here on a number of JavaScript has no next one


def keep() -> None:
    """The callback of a state that needs none: Streamlit keeps a state only when it has a callback."""


def last_report(key: str, state: str) -> object:
    """A state as the browser reported it last, before the component is mounted in this run; None when it has not."""
    found: Any = st.session_state.get(key)
    return found.get(state) if isinstance(found, Mapping) else None


def new_named_event(key: str, event: object) -> tuple[str, int] | None:
    """Name and number of an event `{"name": ..., "id": ...}` that has not been answered in this session, else None."""
    if not isinstance(event, Mapping):
        return None
    name, number = event.get("name"), new_event(key, event.get("id"))
    return (name, number) if isinstance(name, str) and number is not None else None


def new_event(key: str, event: object) -> int | None:
    """The number of an event that has not been answered in this session, else None.

    Args:
        key: Of the component.
        event: What the browser gives as the number.
    """
    number = int(event) if isinstance(event, float) and event.is_integer() else event
    if not isinstance(number, int) or isinstance(number, bool):
        return None
    return number if last_answered(key) < number < _LARGEST else None


def last_answered(key: str) -> int:
    """Number of the last event that was answered in this session; 0 before the first."""
    number: int = st.session_state.get(_of(key), 0)
    return number


def answered(key: str, event: int) -> None:
    """Remember the number of an event. After what it asks for, so that a run that is replaced leaves it to the next."""
    st.session_state[_of(key)] = event


def _of(key: str) -> str:
    return f"{key}-answered"
