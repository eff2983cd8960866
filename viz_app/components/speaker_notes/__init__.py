"""Button for a second window with the teacher's notes, which follows the stop of the route that is shown."""

from __future__ import annotations

from pathlib import Path

from viz_app.components.registration import register

_mount = register("speaker_notes", Path(__file__).parent)


def speaker_notes(label: str, *, title: str, place: str, note: str, language: str) -> None:
    """Show the button, and the stop in the window if it is open.

    Args:
        label: Of the button and of the window.
        title: Title of the stop.
        place: Its number and its minutes.
        note: For the teacher; may be empty.
        language: Code of the language.
    """
    data = {"label": label, "title": title, "place": place, "note": note, "language": language}
    _mount(key="speaker-notes", data=data, width="content", height="content")
