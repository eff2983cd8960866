"""Files that are either whole or not there: written beside their place, then renamed into it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TOKENIZER_FILE = "tokenizer.model"  # the vocabulary, in every folder that holds prepared text, a training or a model


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A fresh folder to fill; it appears under `path` only when the block ends without an error.

    A folder that is there already is replaced then, and kept when anything fails. A process that is killed leaves
    hidden folders beside it, which `tidy` removes, or brings back if they hold what was to be replaced.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _hidden(path, "partial")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    old: Path | None = None
    try:
        yield temporary
        for file in temporary.rglob("*"):
            _flush(file)
        if path.exists():
            old = _hidden(path, "old")
            shutil.rmtree(old, ignore_errors=True)
            path.rename(old)
        temporary.rename(path)
        _flush_names(path.parent)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        if old and old.exists() and not path.exists():
            old.rename(path)
        raise
    if old:
        shutil.rmtree(old)


def discard(folder: Path) -> None:
    """Remove a folder: first its name, so that nobody ever sees half of it."""
    gone = _hidden(folder, "gone")
    folder.rename(gone)
    shutil.rmtree(gone)


def tidy(parent: Path, name: str) -> None:
    """Undo or finish what killed processes began with folders and files of a name.

    Args:
        parent: Where they lie.
        name: A name or a pattern, such as `step-*`; nobody may be writing there.
    """
    for old in parent.glob(f".{name}.*.old"):
        whole = parent / old.name.removeprefix(".").rsplit(".", 2)[0]
        if not whole.exists():  # killed between the two renames
            old.rename(whole)
    for ending in ("partial", "old", "gone"):
        for left in parent.glob(f".{name}.*.{ending}"):
            if left.is_dir():
                shutil.rmtree(left)
            else:
                left.unlink()


def _hidden(path: Path, ending: str) -> Path:
    return path.parent / f".{path.name}.{os.getpid()}.{ending}"


def _flush_names(folder: Path) -> None:
    """Bring a rename to the disk; Windows neither needs nor allows it."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _flush(file: Path) -> None:
    """Ask the system to bring a file's bytes to the disk, so that a rename never outruns them."""
    if file.is_file():
        with file.open("rb+") as handle:
            os.fsync(handle.fileno())


def replace_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8, whole or not at all; what was there stays until then."""
    replace_bytes(path, text.encode("utf-8"))


def replace_bytes(path: Path, data: bytes) -> None:
    """Write a file, whole or not at all; what was there stays until then."""
    temporary = _hidden(path, "partial")
    try:
        temporary.write_bytes(data)
        _flush(temporary)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_json(path: Path, value: Any) -> None:
    """Write JSON that a person can read, whole or not at all."""
    replace_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def sha256(path: Path) -> str:
    """Hash of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
