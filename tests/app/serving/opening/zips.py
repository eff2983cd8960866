"""Zip files that somebody made to do harm, written byte by byte where zipfile would not."""

from __future__ import annotations

import stat
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path


def written(path: Path, files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def with_mode(path: Path, name: str, kind: int, data: bytes = b"/etc/passwd") -> Path:
    """A member that says it is a link, a pipe or a device."""
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (kind | 0o644) << 16
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(info, data)
    return path


def link(path: Path) -> Path:
    return with_mode(path, "config.json", stat.S_IFLNK)


def patched(path: Path, old: bytes, new: bytes, count: int = -1) -> Path:
    assert len(old) == len(new)
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new, count) if count >= 0 else data.replace(old, new))
    return path


def directory_field(path: Path, offset: int, form: str, value: int) -> Path:
    """Change a number in the first entry of the central directory; `offset` is that of the field in it."""
    data = bytearray(path.read_bytes())
    struct.pack_into(form, data, data.index(b"PK\x01\x02") + offset, value)
    path.write_bytes(data)
    return path


def huge_directory(path: Path) -> Path:
    """A file with holes whose directory is said to take 2 GB."""
    size = 2_000_000_000
    with path.open("wb") as file:
        file.write(b"PK\x01\x02")
        file.seek(size)
        file.write(struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, size, 0, 0))
    return path
