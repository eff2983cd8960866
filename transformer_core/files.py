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


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A fresh folder to fill; it appears under `path` only when the block ends without an error.

    A folder that is there already is replaced then, and kept when anything fails.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".{path.name}.{os.getpid()}.partial"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    try:
        yield temporary
        for file in temporary.iterdir():
            _flush(file)
        if path.exists():
            old = path.parent / f".{path.name}.{os.getpid()}.old"
            shutil.rmtree(old, ignore_errors=True)
            path.rename(old)
            temporary.rename(path)
            shutil.rmtree(old)
        else:
            temporary.rename(path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _flush(file: Path) -> None:
    """Ask the system to bring a file's bytes to the disk, so that a rename never outruns them."""
    if file.is_file():
        with file.open("rb+") as handle:
            os.fsync(handle.fileno())


def write_json(path: Path, value: Any) -> None:
    """Write JSON that a person can read."""
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def sha256(path: Path) -> str:
    """Hash of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
