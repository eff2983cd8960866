"""A button that reads a text file in the browser: the server takes no uploads (`viz_app.serving.web.middleware`).

The text comes as an event in a message of the page, whose size is bounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viz_app.components import events
from viz_app.components.registration import register
from viz_app.components.styles import FILE_BUTTON

_MAX_MESSAGE_BYTES = 900_000  # of the text within a message, where quotes and line ends take two characters
_mount = register("file_picker", Path(__file__).parent, style=FILE_BUTTON)


@dataclass(frozen=True)
class PickedFile:
    """File that the visitor has chosen.

    Args:
        number: Of the event, for `events.answered`.
        text: Its text; None if the browser refused to read it.
        is_large: Whether it was too large.
    """

    number: int
    text: str | None
    is_large: bool


def file_picker(label: str, *, key: str, most_bytes: int, accept: str) -> PickedFile | None:
    """Show the button; return a new file.

    Args:
        label: Of the button.
        key: Identity of the component.
        most_bytes: Largest file that the browser reads.
        accept: Files that are offered first, see `accept` of HTML's input.
    """
    data = {"label": label, "accept": accept, "most": most_bytes, "most_message": _MAX_MESSAGE_BYTES}
    result: Any = _mount(key=key, data=data, height="content", on_file_change=events.keep)
    found = events.new_report(key, result.get("file"))
    if found is None:
        return None
    number, file = found
    text = file.get("text")
    return PickedFile(number, text if isinstance(text, str) else None, file.get("problem") == "size")
