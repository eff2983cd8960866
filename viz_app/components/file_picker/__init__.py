"""A button that reads a text file in the browser: the server takes no uploads (`viz_app.serving.web.middleware`).

The text comes as an event, in a message of the page like any other, which has a bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viz_app.components import events
from viz_app.components.registration import register

_MAX_MESSAGE_BYTES = 900_000  # of the text within a message, where quotes and line ends take two characters
_mount = register("file_picker", Path(__file__).parent)


@dataclass(frozen=True)
class PickedFile:
    """A file that the visitor has chosen.

    Args:
        number: Of the event, for `events.answered`.
        text: What it holds; None where the browser has refused to read it.
        is_large: Whether it was refused because it is too large.
    """

    number: int
    text: str | None
    is_large: bool


def file_picker(label: str, *, key: str, most_bytes: int, accept: str) -> PickedFile | None:
    """Show the button; returns a file that has not been answered yet.

    Args:
        label: Of the button.
        key: Identity of the component.
        most_bytes: Of a file; the browser reads no larger one.
        accept: Which files it offers first, as `accept` of HTML's input has it.
    """
    data = {"label": label, "accept": accept, "most": most_bytes, "most_message": _MAX_MESSAGE_BYTES}
    result: Any = _mount(key=key, data=data, height="content", on_file_change=events.keep)
    file = result.get("file")
    if not isinstance(file, Mapping):
        return None
    number = events.new_event(key, file.get("id"))
    if number is None:
        return None
    text = file.get("text")
    return PickedFile(number, text if isinstance(text, str) else None, file.get("problem") == "size")
