"""Training history: one browser component with all heads of a sentence in each snapshot of a training.

    payload = pack(history, texts=t.table("growth"), language=t.language, start=start)
    seen = growth(payload, key="growth-base")

Sentence, kind, head and snapshot are chosen and played in the browser, without the server. The state at rest is
reported to Python for the address and for downloads.
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
    """Show a packed training history.

    Args:
        payload: From `pack`.
        key: Identity of the component; under one key the state survives new labels.

    Returns:
        The reported `HistoryStart` of growth/payload.py; None before the first report.
    """
    result: Any = _mount(key=key, data=payload, height="content", default={_STATE: None}, on_seen_change=events.keep)
    return result.get(_STATE)


def last_report(key: str) -> object:
    """Return the reported state before the component is mounted in this run."""
    return events.last_report(key, _STATE)
