"""How heads grew: one browser component that shows all heads of a sentence at each moment of a training.

    payload = pack(history, texts=t.table("growth"), language=t.language, start=start)
    seen = growth(payload, key="growth-base")

Sentence, kind, head and moment are chosen and played in the browser, with no server. What is seen when it comes to rest
is reported to Python, for the address and for downloads.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from viz_app.components import events
from viz_app.components.growth.payload import pack
from viz_app.components.registration import register

__all__ = ["growth", "last_report", "pack"]

_STATE = "seen"

_mount = register("growth", Path(__file__).parent)


def growth(payload: bytes, *, key: str) -> object:
    """Shows a packed history.

    Args:
        payload: From `pack`.
        key: Identity of the component; under one key the reader stays where he is when labels change.

    Returns:
        What the browser says is seen: `sentence`, `kind`, `moment`, `layer`, `head`; None before it has said anything.
    """
    result: Any = _mount(key=key, data=payload, height="content", default={_STATE: None}, on_seen_change=events.keep)
    return result.get(_STATE)


def last_report(key: str) -> object:
    """The same before the component is mounted in this run."""
    return events.last_report(key, _STATE)
