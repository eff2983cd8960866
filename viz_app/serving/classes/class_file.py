"""File of a server's classes, which lets them survive its restart. Only this user can read it."""

from __future__ import annotations

import logging
import os
import stat
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from transformer_core.storage.files import CheckpointError, atomic_write_bytes, read_regular, recover_interrupted_writes

MAX_FILE_BYTES = 32_000_000  # 64 classes with 100 polls on rows of 64 tokens and 1,000 answers each take 20 MB
STATE_SETTING = "STATE_DIRECTORY"  # as systemd sets it
_NAME = "classes.json"
_SECONDS = 1.0  # from a change to the file

_log = logging.getLogger(__name__)


class ClassFile:
    """File in a folder of this user alone.

    Args:
        server: Name of the server, such as its port: with the same name it finds its classes again.

    Raises:
        OSError: There is no such folder, and it cannot be made.
    """

    def __init__(self, server: str) -> None:
        user = os.geteuid() if os.name == "posix" else 0
        parent = os.environ.get(STATE_SETTING, "").split(":")[0] or tempfile.gettempdir()
        self._path, self._lock = Path(parent) / f"headlight-{user}-{server}" / _NAME, threading.Lock()
        self._own_folder()
        recover_interrupted_writes(self._path.parent, _NAME)

    def _own_folder(self) -> None:
        """Make the folder, unless it is there; the system removes old ones from the place of temporary files."""
        folder = self._path.parent
        folder.mkdir(mode=0o700, exist_ok=True)
        mode, owner = folder.lstat().st_mode, folder.lstat().st_uid
        if os.name == "posix" and (not stat.S_ISDIR(mode) or owner != os.geteuid() or mode & 0o077):
            raise PermissionError(f"{folder} is not a folder of this user alone")

    def read(self, max_age: float) -> bytes | None:
        """Return what the file holds; None without one, or if it is unusable or older than some seconds."""
        try:
            if time.time() - self._path.lstat().st_mtime < max_age:
                return read_regular(self._path, MAX_FILE_BYTES)
        except FileNotFoundError:
            pass
        except (OSError, CheckpointError) as error:
            _log.warning("classes are not restored: %s", error)
        return None

    def keep(self, changed: Callable[[], bytes | None]) -> Callable[[], None]:
        """Write what changes within a second, and return the function that writes it at once.

        Args:
            changed: Returns what the file should hold; None if that has not changed since its last call.
        """
        unsaved: bytes | None = None
        problem = ""

        def save() -> None:
            nonlocal unsaved, problem
            with self._lock:
                if (data := changed() or unsaved) is None:
                    return
                try:
                    if len(data) > MAX_FILE_BYTES:
                        raise OSError(f"they have more than {MAX_FILE_BYTES:,} bytes")
                    self._own_folder()
                    atomic_write_bytes(self._path, data, 0o600)
                    unsaved, problem = None, ""
                except OSError as error:  # tried again a second later, and said once
                    if problem != str(error):
                        _log.warning("classes would not survive a restart: %s", error)
                    unsaved, problem = data, str(error)

        def run() -> None:
            while True:
                time.sleep(_SECONDS)
                save()

        threading.Thread(target=run, name="class-file", daemon=True).start()
        return save
