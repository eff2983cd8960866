"""Names for opened models, and the temporary folders of the servers that hold them."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

_PREFIX = "headlight-models-"


def place_prefix() -> str:
    """Return the prefix of this server's folder."""
    return f"{_PREFIX}{os.getpid()}-"


def plain_name(text: str) -> str:
    """Return a name for a folder and for an address, from any text."""
    return re.sub(r"[^\w.-]+", "-", text, flags=re.ASCII)[:40].strip(".-") or "model"


def unused_name(text: str, others: Mapping[str, object]) -> str:
    """Return a plain name that no other model has."""
    plain = plain_name(text)
    found, number = plain, 2
    while found in others:
        found, number = f"{plain}-{number}", number + 1
    return found


def remove_leftovers(parent: Path | None = None) -> None:
    """Remove folders of killed servers, if the system can tell which servers are alive."""
    if os.name != "posix":
        return
    for folder in Path(parent or tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        with suppress(OSError, ValueError):
            status, pid = folder.lstat(), int(folder.name.removeprefix(_PREFIX).split("-")[0])
            if folder.is_symlink() or status.st_uid != os.getuid() or _is_alive(pid):
                continue
            shutil.rmtree(folder, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
