"""Validate and unpack an untrusted model zip.

    members = check_archive(path)          # nothing is unpacked yet
    unpack(path, folder, on_bytes=print)

It refuses absolute names and `..`, links, archives within the archive, passwords, rare methods of compression, and
files that are too large or too many. It skips hidden files, such as `.git`, and removes a folder around all files.
"""

from __future__ import annotations

import re
import shutil
import stat
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast
from unicodedata import normalize

from transformer_core.storage.files import CheckpointError, open_regular
from transformer_core.storage.manifest import is_plain

MAX_PACKED = 6_000_000_000  # bytes of the archive; NLLB 1.3B in float32 has 5.5 GB
MAX_UNPACKED = 6_000_000_000
MAX_FILES = 2_000
SPARE_BYTES = 500_000_000  # of a disk that stay free
_MAX_READ = 1_000_000  # bytes at a time, so also of the archive's directory, which zipfile reads at once
_CHUNK = 2**19
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# pytorch_model.bin and .npz are zip files as well, but are never unpacked here.
# Windows opens a device by these names, in every folder, and drops dots and spaces at the end of others.
_NOT_ON_WINDOWS = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[\d¹²³]) *(\..*)?|.*[. ]", re.IGNORECASE)
_ARCHIVES = frozenset([".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".7z", ".rar", ".jar", ".whl"])


class OpenError(ValueError):
    """A model cannot be opened.

    Args:
        problem: Reason: a label `open_model.problem_...`.
        values: Values for the label, such as a file.
    """

    def __init__(self, problem: str, **values: str) -> None:
        super().__init__(f"{problem}: {values}")
        self.problem, self.values = problem, values


@dataclass(frozen=True)
class Member:
    """A file of an archive.

    Args:
        name: Target below the folder.
        info: Place in the archive.
    """

    name: str
    info: zipfile.ZipInfo


class _ShortReads:
    """File whose reads are short, so that a false size in an archive costs no memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, size: int | None = -1) -> bytes:
        wanted = _MAX_READ + 1 if size is None or size < 0 else size
        data = self._file.read(min(wanted, _MAX_READ + 1))
        if len(data) > _MAX_READ:
            raise OpenError("files", most=f"{MAX_FILES:,}")
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def check_archive(path: Path) -> tuple[Member, ...]:
    """Return the files of an archive.

    Raises:
        OpenError: It is no archive, or a file is not allowed.
    """
    with _opened(path) as archive:
        return _members(archive.infolist())


def unpack(path: Path, folder: Path, on_bytes: Callable[[int, int], object] = lambda done, total: None) -> None:
    """Unpack an archive into an empty folder.

    Args:
        path: The archive.
        folder: Target.
        on_bytes: Called with the unpacked bytes and the bytes of all files.

    Raises:
        OpenError: As `check_archive`; or the archive is damaged, or the disk too full.
    """
    with _opened(path) as archive:
        members = _members(archive.infolist())
        total = sum(member.info.file_size for member in members)
        check_room(folder, 2 * total)  # the converted checkpoint is hardly larger
        done = 0
        for member in members:
            target = folder / member.name
            target.parent.mkdir(exist_ok=True)
            for size in _copy(archive, member, target):
                done += size
                on_bytes(done, total)


def check_room(folder: Path, needed: int) -> None:
    """Raise OpenError if a disk has too few free bytes."""
    free = shutil.disk_usage(folder).free - SPARE_BYTES
    if needed > free:
        raise OpenError("disk", needed=megabytes(needed), free=megabytes(max(0, free)))


def megabytes(count: int) -> str:
    """Return a number of bytes in megabytes, rounded up."""
    return f"{-(-count // 1_000_000):,}"


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(cast(Any, _ShortReads(open_regular(path, MAX_PACKED))))
    except (zipfile.BadZipFile, NotImplementedError, CheckpointError, OSError, ValueError) as error:
        if isinstance(error, OpenError):
            raise
        raise OpenError("no_archive") from error


def _members(infos: Sequence[zipfile.ZipInfo]) -> tuple[Member, ...]:
    if len(infos) > MAX_FILES:
        raise OpenError("files", most=f"{MAX_FILES:,}")
    total = sum(info.file_size for info in infos)
    if total > MAX_UNPACKED or any(info.file_size < 0 for info in infos):
        raise OpenError("unpacked", most=megabytes(MAX_UNPACKED))
    for info in infos:
        _check(info)
    kept = [info for info in infos if not info.is_dir() and not _is_hidden(info.filename)]
    paths = [PurePosixPath(info.filename).parts for info in kept]
    around = len({parts[0] for parts in paths}) == 1 and all(len(parts) > 1 for parts in paths)
    members = [Member("/".join(parts[1:] if around else parts), info) for parts, info in zip(paths, kept, strict=True)]
    for member in members:
        if not is_plain(member.name):
            raise OpenError("deep", file=_shown(member.info.filename))
    if not members:
        raise OpenError("empty")
    names = [normalize("NFC", member.name).casefold() for member in members]  # a disk may take A for a
    twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
    if twice is not None:
        raise OpenError("twice", file=_shown(twice))
    return tuple(members)


def _check(info: zipfile.ZipInfo) -> None:
    """Raise OpenError for a member that is not allowed, hidden or not."""
    name, mode = info.orig_filename, info.external_attr >> 16
    file = _shown(name)
    parts = name.rstrip("/").split("/")
    if any(c in name for c in "\\:\0") or not name.isprintable() or not all(map(_is_portable, parts)):
        raise OpenError("name", file=file)
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise OpenError("link", file=file)
    if info.header_offset < 0:
        raise OpenError("damaged", file=file)
    if info.flag_bits & 0x1:
        raise OpenError("password", file=file)
    if info.compress_type not in _METHODS:
        raise OpenError("method", file=file)
    if PurePosixPath(name).suffix.lower() in _ARCHIVES and not info.is_dir():
        raise OpenError("nested", file=file)


def _is_portable(part: str) -> bool:
    """Return whether a file or folder may have this name on every system."""
    return part != "" and _NOT_ON_WINDOWS.fullmatch(part) is None  # "." and ".." end with a dot


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in PurePosixPath(name).parts)


def _shown(name: str) -> str:
    return "".join(c if c.isprintable() else "\ufffd" for c in name)[:80]


def _copy(archive: zipfile.ZipFile, member: Member, target: Path) -> Any:
    """Unpack one file; yield the bytes of each part. A file longer or shorter than announced is damaged."""
    left = member.info.file_size
    try:
        with archive.open(member.info) as source, target.open("xb") as file:
            while part := source.read(_CHUNK):
                left -= len(part)
                if left < 0:
                    break
                file.write(part)
                yield len(part)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeError) as error:
        raise OpenError("damaged", file=_shown(member.name)) from error
    if left:
        raise OpenError("damaged", file=_shown(member.name))
