"""Privacy of what Ray keeps on disk: with its token any account of the machine runs code as this user."""

from __future__ import annotations

import logging
import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

from transformer_core.config import ConfigError

_MAX_FOLDER_BYTES = 39  # the path of a socket has 103 bytes on macOS, and Ray adds 64 to the folder

log = logging.getLogger(__name__)


def keep_token_private() -> None:
    """Write Ray's token for this user alone, before Ray writes it for all to read; an existing one stays.

    Raises ConfigError when it cannot be made private.
    """
    if os.name != "posix" or os.environ.get("RAY_AUTH_TOKEN") or os.environ.get("RAY_AUTH_TOKEN_PATH"):
        return
    file = (Path.home() / ".ray" / "auth_token").resolve()
    if not file.exists() and os.environ.get("RAY_ADDRESS"):
        return  # the cluster has its own token, which Ray asks for
    file.parent.mkdir(mode=0o700, exist_ok=True)
    _make_private(file.parent)
    with suppress(FileExistsError), os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as token:
        token.write(secrets.token_hex(32))
    if _make_private(file):
        log.warning("%s could be read by other accounts: replace it with ray get-auth-token --generate", file)


def private_folder() -> str | None:
    """Return a folder for Ray's sockets, ports and logs, in one of this user alone; None on systems without modes.

    Ray opens its own folder to all, so the one around it is closed. Raises ConfigError when it cannot be, such as one
    that another account has made first.
    """
    if os.name != "posix":
        return None
    name = f"ray-{os.geteuid()}/ray"
    folder = Path(os.environ.get("RAY_TMPDIR") or tempfile.gettempdir()).resolve() / name
    if len(os.fsencode(folder)) > _MAX_FOLDER_BYTES:
        folder = Path("/tmp").resolve() / name
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    _make_private(folder.parent)
    return str(folder)


def _make_private(path: Path) -> bool:
    """Take all rights from others, and return whether they had any. Raises ConfigError when that fails."""
    status = path.lstat()
    if status.st_uid != os.geteuid():
        raise ConfigError(f"{path} belongs to another account, which could run code here; remove it")
    if not status.st_mode & 0o077:
        return False
    with suppress(OSError):
        path.chmod(0o700 if path.is_dir() else 0o600)
    if path.lstat().st_mode & 0o077:
        raise ConfigError(f"{path} is open to other accounts, which could run code here; move or remove it")
    return True
