"""The head atlas: one browser component with every head of a model, coloured by a measure of what it does.

    payload = pack(atlas, roles, t, start=state)
    seen = head_atlas(payload, key="atlas")
    opened = opened_head("atlas")                   # a head that the reader wants to see in Translate

Measure, order, filters and compared heads are chosen in the browser, without the server. The choice is reported to
Python for the address and for downloads. The maps of a sentence follow when the reader first points at a head.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from viz_app.components import events
from viz_app.components.atlas.payload import MAX_TOKENS, pack
from viz_app.components.registration import register

__all__ = ["MAX_TOKENS", "answered", "head_atlas", "last_report", "opened_head", "pack"]

_STATE = "seen"
_OPEN = "open"
_HEAD = re.compile(r"(encoder|decoder|cross)\.(0|[1-9][0-9]{0,2})\.(0|[1-9][0-9]{0,2})")

_mount = register("atlas", Path(__file__).parent)


def head_atlas(payload: bytes, *, key: str) -> object:
    """Show a packed atlas.

    Args:
        payload: From `pack`.
        key: Identity of the component; under one key the state survives new labels and maps.

    Returns:
        The reported state, see `viz_app.model_card.atlas_state`; None before the first report.
    """
    result: Any = _mount(
        key=key,
        data=payload,
        height="content",
        default={_STATE: None, _OPEN: None},
        on_seen_change=events.keep,
        on_open_change=events.keep,
    )
    return result.get(_STATE)


def last_report(key: str) -> object:
    """Return the reported state before the component is mounted in this run."""
    return events.last_report(key, _STATE)


def opened_head(key: str) -> tuple[str, int, int, int] | None:
    """Return kind, layer and head (from 0) of a head to open, and the number of the event; None for none."""
    pressed = events.new_named_event(key, events.last_report(key, _OPEN))
    found = _HEAD.fullmatch(pressed[0]) if pressed else None
    return (found[1], int(found[2]), int(found[3]), pressed[1]) if found and pressed else None


def answered(key: str, event: int) -> None:
    """Mark the event of an opened head as answered."""
    events.answered(key, event)
