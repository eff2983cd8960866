"""Temporary folders that name their process: a later one removes what a killed one has left."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from transformer_core.storage.files import is_running


def temporary_folder(kind: str, parent: Path | None = None) -> tempfile.TemporaryDirectory[str]:
    """Create a folder that is removed when the process ends.

    Args:
        kind: Beginning of its name, such as "headlight-models".
        parent: Where it is; None for the system's place.
    """
    prefix = f"{kind}-{os.getpid()}-"
    return tempfile.TemporaryDirectory(prefix=prefix, dir=parent, ignore_cleanup_errors=True)


def remove_leftovers(kind: str, parent: Path | None = None) -> None:
    """Remove folders of killed processes, if the system can tell which processes are alive."""
    if os.name != "posix":
        return
    for folder in Path(parent or tempfile.gettempdir()).glob(f"{kind}-*-*"):
        with suppress(OSError, ValueError):
            status, pid = folder.lstat(), int(folder.name.removeprefix(f"{kind}-").split("-")[0])
            if not folder.is_symlink() and status.st_uid == os.getuid() and not is_running(pid):
                shutil.rmtree(folder, ignore_errors=True)
