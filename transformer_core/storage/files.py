"""Atomic files and directories: written under a hidden name beside the target, then renamed.

Nothing here imports torch.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any

TOKENIZER_FILE = "tokenizer.model"  # the vocabulary, in every folder of prepared text, of a training or of a model
CONTENTS_FILE = "headlight.json"  # in a folder that is replaced as a whole, and no checkpoint: its origin and its files
_MAX_CONTENTS_BYTES = 10_000_000
_PAUSES = (0.01, 0.1, 0.3, 0.6)  # seconds
_MAX_JSON_VALUES = 3_000_000  # of a file; NLLB-200's tokenizer.json has half of it
VOCABULARY_FILE = "vocabulary.json"  # beside it in converted models, whose ids are not SentencePiece's


class CheckpointError(ValueError):
    """A checkpoint that is missing, damaged or of another format.

    Args:
        path: The file or folder with the error.
        reason: What is wrong with it.
    """

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(printable(f"{path}: {reason}"))
        self.path = path
        self.reason = reason

    @property
    def in_folder(self) -> str:
        """Message without the server's paths, which must not leak."""
        return printable(f"{'/'.join(self.path.parts[-2:])}: {self.reason}")


def printable(text: str) -> str:
    r"""Spell out characters that steer a terminal or reverse the text order, as `\x1b`."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class FolderInUseError(RuntimeError):
    """A folder that another process uses; the message names it."""


@contextmanager
def exclusive(folder: Path, *, waits: bool = True) -> Iterator[None]:
    """Hold a lock of a folder, which ends with the process; Windows and some network disks have none.

    Raises:
        FolderInUseError: Another process holds it, and this one does not wait.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
        except BlockingIOError as error:
            raise FolderInUseError(f"{folder} is in use by another process; wait for its end, or stop it") from error
        except OSError:
            pass  # a disk without locks
        yield
    finally:
        os.close(descriptor)


@contextmanager
def atomic_directory(path: Path) -> Iterator[Path]:
    """A new folder to fill; it appears at `path` only when the block ends without an error.

    An existing folder is replaced then, and kept when anything fails; so is a link, but not its target. A process that
    is killed leaves hidden folders beside it; `recover_interrupted_writes` removes them, or restores the folder that
    was to be replaced.
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
            if path.is_dir():
                shutil.copymode(path, temporary)
            old = _hidden(path, "old")
            shutil.rmtree(old, ignore_errors=True)
            _rename(path, old)
        _rename(temporary, path)
        _flush_names(path.parent)
    except BaseException as error:
        shutil.rmtree(temporary, ignore_errors=True)
        if old and old.exists() and not path.exists():
            _rename(old, path)
        name_file(error, path)
        raise
    if old:
        _remove(old)


def name_file(error: BaseException, path: Path) -> None:
    """Say in an error where nothing could be written: a full disk names no file."""
    hidden = f".{path.name}."
    if isinstance(error, OSError) and error.errno and (error.filename is None or hidden in str(error.filename)):
        error.filename = str(path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def remove_directory(folder: Path) -> None:
    """Remove a folder, renamed first so that no reader ever sees half of it."""
    gone = _hidden(folder, "gone")
    _rename(folder, gone)
    shutil.rmtree(gone)


def recover_interrupted_writes(parent: Path, name: str) -> None:
    """Undo or finish writes and removals of killed processes; living ones go on.

    Args:
        parent: The folder of the files and folders.
        name: Their name or a pattern, such as `step-*`.
    """
    for old in parent.glob(f".{name}.[0-9]*.old"):
        whole = parent / old.name.removeprefix(".").rsplit(".", 2)[0]
        if not whole.exists():  # killed between the two renames
            _rename(old, whole)
    for ending in ("partial", "old", "gone"):
        for leftover in parent.glob(f".{name}.[0-9]*.{ending}"):
            if not _is_being_written(leftover):
                _remove(leftover)


def _is_being_written(hidden: Path) -> bool:
    """Return whether the process that writes a hidden file or folder lives; Windows cannot tell."""
    number = hidden.name.rsplit(".", 2)[1]
    is_ours = not number.isdecimal() or int(number) == os.getpid()
    return os.name == "posix" and not is_ours and is_running(int(number))


def is_running(process: int) -> bool:
    """Return whether a process of this number runs, on POSIX systems."""
    try:
        os.kill(process, 0)  # sends nothing
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # of another user
        pass
    return True


def _hidden(path: Path, ending: str) -> Path:
    return path.parent / f".{path.name}.{os.getpid()}.{ending}"


def _flush_names(folder: Path) -> None:
    """Flush a rename to disk; Windows neither needs nor allows it."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _flush(file: Path) -> None:
    """Flush a file's bytes to disk, so that a rename never gets there first."""
    if file.is_file():
        with file.open("rb+") as handle:
            os.fsync(handle.fileno())


def atomic_write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8 atomically; an existing file stays until then."""
    atomic_write_bytes(path, text.encode("utf-8"))


def atomic_write_bytes(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Write a file atomically; an existing file stays until then. The umask takes rights from `mode`."""
    temporary = _hidden(path, "partial")
    try:
        with open(temporary, "wb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(data)
        replace_file(temporary, path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        name_file(error, path)
        raise


def replace_file(temporary: Path, path: Path) -> None:
    """Rename a finished file, once its bytes are on disk; it takes the mode of the file that it replaces."""
    _flush(temporary)
    if path.is_file():
        shutil.copymode(path, temporary)
    _rename(temporary, path)


def _rename(old: Path, new: Path) -> None:
    """Rename a folder or a file, which may replace another; on Windows wait until no program has it open for a scan."""
    for pause in _PAUSES if os.name == "nt" else ():
        try:
            old.replace(new)
        except PermissionError:
            time.sleep(pause)
        else:
            return
    old.replace(new)


def write_json(path: Path, value: Any) -> None:
    """Write indented JSON atomically."""
    atomic_write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def parse_json(data: bytes) -> Any:
    """Parse JSON in UTF-8. Raises ValueError for damage and for too many values, RecursionError for deep ones."""
    if (count := sum(map(data.count, (b",", b"[", b"{")))) > _MAX_JSON_VALUES:
        raise ValueError(f"has {count:,} values, but at most {_MAX_JSON_VALUES:,} are allowed")
    return json.loads(data.decode("utf-8"))


def write_contents(folder: Path, **origin: Any) -> None:
    """Write the list of all files of a folder, itself included, with their origin."""
    files = {CONTENTS_FILE, *(each.relative_to(folder).as_posix() for each in folder.rglob("*") if each.is_file())}
    write_json(folder / CONTENTS_FILE, {**origin, "files": sorted(files)})


def contents(folder: Path) -> set[str]:
    """Return the files that a folder lists. Raises CheckpointError when it has no list of ours."""
    path = folder / CONTENTS_FILE
    try:
        files = parse_json(read_regular(path, _MAX_CONTENTS_BYTES))["files"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise CheckpointError(path, "is missing or damaged") from error
    if not isinstance(files, list) or CONTENTS_FILE not in files or not all(isinstance(each, str) for each in files):
        raise CheckpointError(path, "lists no files")
    return set(files)


def problem_of(error: Exception) -> str:
    """Return the message of an error without paths of this machine."""
    return (error.strerror or type(error).__name__) if isinstance(error, OSError) else str(error)


def sha256(path: Path, max_bytes: int | None = None) -> str:
    """SHA-256 of a file, in hex. Raises CheckpointError for what is no regular file, or larger than allowed."""
    with open_regular(path, max_bytes) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def open_regular(path: Path, max_bytes: int | None = None) -> BufferedReader:
    """Open a file from an untrusted folder.

    A link could lead to any file of this machine, and a pipe would keep the reader for good.

    Args:
        path: The file.
        max_bytes: Its size at most.

    Raises:
        CheckpointError: It is a link, no regular file, too large, or has a name that no file can have.
        OSError: It cannot be opened.
    """
    if path.is_symlink():  # where O_NOFOLLOW is missing; elsewhere to say it in words
        raise CheckpointError(path, "is a link, which is not followed")
    flags = sum(getattr(os, name, 0) for name in ("O_RDONLY", "O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
    try:
        file = os.fdopen(os.open(path, flags), "rb")
    except ValueError as error:  # a null character, or half of a surrogate pair
        raise CheckpointError(path, f"cannot be the name of a file: {error}") from error
    status = os.fstat(file.fileno())
    problem = ""
    if not stat.S_ISREG(status.st_mode):
        problem = "is not a regular file"
    elif max_bytes is not None and status.st_size > max_bytes:
        problem = f"has {status.st_size:,} bytes, but at most {max_bytes:,} are allowed"
    if problem:
        file.close()
        raise CheckpointError(path, problem)
    return file


def read_regular(path: Path, max_bytes: int) -> bytes:
    """Read a file of bounded size. Raises like `open_regular`."""
    with open_regular(path, max_bytes) as file:
        return file.read(max_bytes)
