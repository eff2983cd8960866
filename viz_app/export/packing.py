"""A place for a set of figures: a zip in memory, or a folder in which an interrupted run continues."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from transformer_core.cli.arguments import UsageError
from transformer_core.storage.files import atomic_write_bytes, recover_interrupted_writes
from viz_app.export.embedded_record import read_record

INDEX = "index.json"
PROGRAM = "Headlight"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip can tell
_DECIDES = ("version", "command", "checkpoint_sha256")  # parts of a record that set the bytes of its file


class Place(Protocol):
    """A place for files by their names, such as `pdf/headlight_beam.pdf`."""

    def add(self, name: str, data: bytes) -> None:
        """Write a file, whole or not at all."""

    def complete(self, names: Sequence[str], format: str, record: Mapping[str, Any]) -> list[bytes]:
        """Return the files of one figure and format, if they are there as they would be drawn; else none."""


class Zip:
    """A zip in memory; the same files give the same bytes."""

    def __init__(self) -> None:
        self._buffer = io.BytesIO()
        self._archive = zipfile.ZipFile(self._buffer, "w")

    def add(self, name: str, data: bytes) -> None:
        """Write a file."""
        entry = zipfile.ZipInfo(name, _EPOCH)
        entry.create_system = 3  # the same on every system
        entry.external_attr = 0o644 << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self._archive.writestr(entry, data, compresslevel=6)

    def complete(self, names: Sequence[str], format: str, record: Mapping[str, Any]) -> list[bytes]:
        """Return none: every file has to be drawn."""
        return []

    def data(self) -> bytes:
        """Return the zip, which takes no more files."""
        self._archive.close()
        return self._buffer.getvalue()


class Folder:
    """A folder, made when it is not there. Its index is there from the beginning, and says whose it is.

    Args:
        path: The folder.
        force: Whether files of another origin may be replaced.

    Raises:
        UsageError: It holds other files, and `force` is false.
    """

    def __init__(self, path: Path, *, force: bool = False) -> None:
        self.path, self._force = path, force
        is_ours = _is_ours(path / INDEX)
        if not force and path.exists() and any(path.iterdir()) and not is_ours:
            raise UsageError(
                f"--out: {path} contains other files; add --force to write there anyway, or name another folder"
            )
        for folder in (path, *path.glob("*/")) if is_ours else ():
            recover_interrupted_writes(folder, "*")
        path.mkdir(parents=True, exist_ok=True)
        if not (path / INDEX).exists():
            self.add(INDEX, json.dumps({"program": PROGRAM}).encode())

    def add(self, name: str, data: bytes) -> None:
        """Write a file."""
        (self.path / name).parent.mkdir(exist_ok=True)
        atomic_write_bytes(self.path / name, data)

    def complete(self, names: Sequence[str], format: str, record: Mapping[str, Any]) -> list[bytes]:
        """Return the files if the last one has this record. Raises UsageError for another one, unless forced."""
        paths = [self.path / name for name in names]
        files = [path.read_bytes() for path in paths if path.is_file()]
        try:
            there = read_record(files[-1], format) if files else {}
        except UsageError:
            there = {}
        if len(files) == len(names) and all(there.get(part) == record.get(part) for part in _DECIDES):
            return files
        if paths[-1].is_file() and not self._force:
            message = "was made otherwise, or changed since; add --force to replace it, or name another folder"
            raise UsageError(f"--out: {paths[-1]} {message}")
        return []


def _is_ours(index: Path) -> bool:
    try:
        return bool(json.loads(index.read_bytes())["program"] == PROGRAM)
    except (OSError, ValueError, LookupError, TypeError):
        return False
