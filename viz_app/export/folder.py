"""The folder that a batch fills, with the journal by which an interrupted run knows what is complete."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from transformer_core.cli.arguments import UsageError
from transformer_core.storage.files import atomic_write_bytes, atomic_write_text, sha256

JOURNAL = "journal.jsonl"


class BatchFolder:
    """Folder of a batch with its journal.

    Args:
        path: The folder; made when it is not there.
        force: Whether files of another origin may be replaced.
    """

    def __init__(self, path: Path, *, force: bool = False) -> None:
        self.path, self._force = path, force
        self.entries: dict[str, dict[str, Any]] = {}
        journal = path / JOURNAL
        if journal.is_file():
            self.entries = {entry["file"]: entry for entry in _complete_entries(journal)}
        elif path.exists() and not force and any(path.iterdir()):
            raise UsageError(
                f"--out: {path} contains other files; add --force to write there anyway, or name another folder"
            )
        path.mkdir(parents=True, exist_ok=True)
        atomic_write_text(journal, "".join(_line(entry) for entry in self.entries.values()))

    def is_complete(self, name: str, keys: Sequence[str]) -> bool:
        """Return whether a file stands there as it would be made, by any of the keys that mean the same.

        Raises UsageError for one made otherwise, unless forced.
        """
        entry, path = self.entries.get(name), self.path / name
        if entry is None or not path.is_file():
            return False
        if entry["key"] in keys and sha256(path) == entry["sha256"]:
            return True
        if not self._force:
            changed = "with other options or another sentence" if entry["key"] not in keys else "and was changed since"
            raise UsageError(f"--out: {path} was made {changed}; add --force to replace it, or name another folder")
        return False

    def write(self, name: str, key: str, data: bytes, about: dict[str, Any]) -> None:
        """Write a file, then say in the journal that it is complete."""
        path = self.path / name
        known = self.entries.get(name)
        # Without an entry it may be the last file of a run that was killed: then the same bytes stand there.
        if path.exists() and known is None and not self._force and path.read_bytes() != data:
            raise UsageError(f"--out: {path} is not a file of this batch; add --force to replace it")
        atomic_write_bytes(path, data)
        entry = {"file": name, "key": key, "sha256": hashlib.sha256(data).hexdigest(), **about}
        self.entries[name] = entry
        with (self.path / JOURNAL).open("a", encoding="utf-8", newline="\n") as journal:
            journal.write(_line(entry))


def _line(entry: dict[str, Any]) -> str:
    return json.dumps(entry, ensure_ascii=False) + "\n"


def _complete_entries(journal: Path) -> Iterator[dict[str, Any]]:
    """Yield the entries; a last line that was cut off is left out, and its file made again."""
    for line in journal.read_text(encoding="utf-8", errors="replace").split("\n"):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and {"file", "key", "sha256"} <= set(entry):
            yield entry
