"""A button that sends the archive of a model to the server, in a request of its own: a message of a page is too small.

The server tells how far it is (`serving.opening`); the browser says when it begins, and what was refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viz_app.components import events
from viz_app.components.registration import register

_MAX_TEXT = 200  # characters of a value that a refusal names
_mount = register("model_upload", Path(__file__).parent)


@dataclass(frozen=True)
class Sent:
    """What the browser tells of a file.

    Args:
        number: Of the event, for `events.answered`.
        problem: Why the server refused it: the name of a label; empty when it is on its way.
        values: What that label names.
    """

    number: int
    problem: str
    values: Mapping[str, str]


def model_upload(label: str, *, key: str, address: str, most_bytes: int, languages: tuple[str, str]) -> Sent | None:
    """Show the button; returns news that have not been answered yet.

    Args:
        label: Of the button.
        key: Identity of the component.
        address: Path of the route that takes the file.
        most_bytes: Of a file; the browser sends no larger one.
        languages: Source and target, as the visitor named them.
    """
    data = {"label": label, "address": address, "most": most_bytes, "source": languages[0], "target": languages[1]}
    result: Any = _mount(key=key, data=data, height="content", on_sent_change=events.keep)
    sent = result.get("sent")
    if not isinstance(sent, Mapping):
        return None
    number = events.new_event(key, sent.get("id"))
    if number is None:
        return None
    values = sent.get("values")
    named = values if isinstance(values, Mapping) else {}
    texts = {str(name)[:_MAX_TEXT]: str(value)[:_MAX_TEXT] for name, value in list(named.items())[:8]}
    return Sent(number, str(sent.get("problem") or "")[:_MAX_TEXT], texts)
