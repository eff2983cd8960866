"""Events of components, each answered once.

A component keeps an event as its state, `{"name": ..., "id": eventId()}` (common/events.js), so the browser tells it
again with every run: a trigger would be lost with a run that another one replaces.
"""

from __future__ import annotations

import streamlit as st

_LARGEST = 2**53  # from here on a number of JavaScript has no next one


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
