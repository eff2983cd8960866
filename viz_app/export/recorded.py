"""Figure files that hold the command which reproduces them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from viz_app.export.command import command_for, with_theme
from viz_app.figures import Figure, Style, export
from viz_app.figures.record import provenance_record


def with_command(figure: Figure, format: str, style: Style | None = None, *, dpi: int | None = None) -> Figure:
    """Return the figure with the command of one of its files in its provenance, instead of any other command.

    A figure that no command of ours makes keeps what its maker wrote there.
    """
    command = command_for(figure, style, format=format, dpi=dpi)
    return replace(figure, provenance={**figure.provenance, "command": command}) if command else figure


def file_bytes(figure: Figure, format: str, style: Style | None = None, *, dpi: int | None = None) -> bytes:
    """Return a figure as a file with its command in it; as `viz_app.figures.export` otherwise."""
    style = with_theme(figure, style or Style())
    return export(with_command(figure, format, style, dpi=dpi), format, style, dpi=dpi)


def export_files(
    figure: Figure, format: str, style: Style | None = None, *, dpi: int | None = None
) -> dict[str, bytes]:
    """Return all files of one format, by their endings: CSV has no place for a record, so one lies beside it."""
    files = {f".{format}": file_bytes(figure, format, style, dpi=dpi)}
    if format == "csv":
        record = provenance_record(with_command(figure, format, style))
        text = json.dumps(record, ensure_ascii=False, indent=1, sort_keys=True, default=str) + "\n"
        files[".csv.json"] = text.encode("utf-8", errors="replace")
    return files


def target_files(
    figure: Figure, targets: Mapping[Path, str], style: Style, *, dpi: int | None = None
) -> dict[Path, bytes]:
    """Return all files of a figure by their paths, with the files beside a target; `targets`: path -> format."""
    return {
        out.with_name(out.name[: -len(out.suffix)] + ending): data
        for out, format in targets.items()
        for ending, data in export_files(figure, format, style, dpi=dpi).items()
    }
