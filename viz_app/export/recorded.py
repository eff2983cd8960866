"""Files that hold the command that makes them again."""

from __future__ import annotations

import json
from dataclasses import replace

from viz_app.export.command import command_of, themed
from viz_app.figures import Figure, Style, export
from viz_app.figures.record import record


def recorded(figure: Figure, format: str, style: Style | None = None, *, dpi: int | None = None) -> Figure:
    """The figure with the command of one of its files in its provenance, instead of any other command.

    A figure that no command of ours makes keeps what its maker wrote there.
    """
    command = command_of(figure, style, format=format, dpi=dpi)
    return replace(figure, provenance={**figure.provenance, "command": command}) if command else figure


def file_bytes(figure: Figure, format: str, style: Style | None = None, *, dpi: int | None = None) -> bytes:
    """A figure as a file with its command in it; as `viz_app.figures.export` otherwise."""
    style = themed(figure, style or Style())
    return export(recorded(figure, format, style, dpi=dpi), format, style, dpi=dpi)


def files_of(figure: Figure, format: str, style: Style | None = None, *, dpi: int | None = None) -> dict[str, bytes]:
    """All files of one format, by their endings: CSV has no place for a record, so one lies beside it."""
    files = {f".{format}": file_bytes(figure, format, style, dpi=dpi)}
    if format == "csv":
        told = record(recorded(figure, format, style))
        text = json.dumps(told, ensure_ascii=False, indent=1, sort_keys=True, default=str) + "\n"
        files[".csv.json"] = text.encode("utf-8", errors="replace")
    return files
