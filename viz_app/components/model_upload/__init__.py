"""A button that sends the archive of a model to the server, in a request of its own: a message of a page is too small.

The server reports the progress (`serving.opening`); the browser reports the start and what was refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viz_app.components import events
from viz_app.components.registration import register
from viz_app.components.styles import FILE_BUTTON

_MAX_TEXT = 200  # characters of a value that a refusal names
_mount = register("model_upload", Path(__file__).parent, style=FILE_BUTTON)


@dataclass(frozen=True)
class Sent:
    """Report of the browser on a file.

    Args:
        number: Of the event, for `events.answered`.
        problem: Key of the label with the reason for a refusal; empty while the file is on its way.
        values: Values of the label's placeholders.
    """

    number: int
    problem: str
    values: Mapping[str, str]


def model_upload(label: str, *, key: str, address: str, most_bytes: int, languages: tuple[str, str]) -> Sent | None:
    """Show the button; return a new report.

    Args:
        label: Of the button.
        key: Identity of the component.
        address: Path of the route for the file.
        most_bytes: Largest file that the browser sends.
        languages: Source and target, as the visitor named them.
    """
    data = {"label": label, "address": address, "most": most_bytes, "source": languages[0], "target": languages[1]}
    result: Any = _mount(key=key, data=data, height="content", on_sent_change=events.keep)
    found = events.new_report(key, result.get("sent"))
    if found is None:
        return None
    number, sent = found
    values = sent.get("values")
    named = values if isinstance(values, Mapping) else {}
    texts = {str(name)[:_MAX_TEXT]: str(value)[:_MAX_TEXT] for name, value in list(named.items())[:8]}
    return Sent(number, str(sent.get("problem") or "")[:_MAX_TEXT], texts)
