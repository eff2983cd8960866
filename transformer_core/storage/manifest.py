"""`manifest.json`: the sha256 of every file of a folder, and the `weights_hash` of the model that they belong to.

A checkpoint has one, and its `derived/` another. The `weights_hash` names a model by what determines its output and by
nothing else: neither by its card and its scores, nor by how its weights are cut into files.

    {"format_version": 2, "weights_hash": "...", "files": {"config.json": "...", ...}}

Format 1 was `files` alone.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from transformer_core.storage.files import (
    CheckpointError,
    open_regular,
    parse_json,
    problem_of,
    read_regular,
    sha256,
    write_json,
)

MANIFEST_FILE = "manifest.json"
FORMAT_VERSION = 2
_MAX_BYTES = 1_000_000  # of a manifest: thousands of files
MAX_FOLDER_BYTES = 4_000_000_000  # of all files that it lists; the paper's large model has a tenth of it
_HASH = re.compile(r"[0-9a-f]{64}")
_PLAIN = re.compile(r"(?:[^/\\:.][^/\\:]*/)?[^/\\:.][^/\\:]*")


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """Contents of a `manifest.json`.

    Args:
        files: Name -> sha256 of every file but the manifest.
        weights_hash: Of the model; empty in format 1.
    """

    files: Mapping[str, str] = field(default_factory=dict)
    weights_hash: str = ""

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read the manifest of a folder. Raises CheckpointError when it is missing, damaged or of another format."""
        path = folder / MANIFEST_FILE
        if folder.is_dir() and not path.exists():
            raise CheckpointError(path, "is missing: the folder is no checkpoint")
        value = read_object(path, _MAX_BYTES)
        if "format_version" not in value:
            value = {"files": value, "weights_hash": ""}
        elif value["format_version"] != FORMAT_VERSION:
            raise CheckpointError(
                path, f"has format {value['format_version']!r}, this program reads {FORMAT_VERSION} and older"
            )
        files, hash_of_weights = value.get("files"), value.get("weights_hash")
        if not isinstance(files, dict):
            raise CheckpointError(path, "lists no files with their sha256")
        for name, digest in files.items():
            if not is_plain(name):
                raise CheckpointError(folder / name, "is missing: no file of this folder can have that name")
            if not is_hash(digest):
                raise CheckpointError(path, f"has no sha256 of {name}")
        if hash_of_weights != "" and not is_hash(hash_of_weights):
            raise CheckpointError(path, "has no weights_hash of 64 hexadecimal digits")
        return cls(files=files, weights_hash=str(hash_of_weights))

    def write(self, folder: Path) -> None:
        """Write the manifest of a folder."""
        record: dict[str, Any] = {"format_version": FORMAT_VERSION, "weights_hash": self.weights_hash}
        write_json(folder / MANIFEST_FILE, {**record, "files": dict(sorted(self.files.items()))})

    def check_size(self, folder: Path) -> None:
        """Raise CheckpointError when the listed files are too large together, as files with holes can be on any disk.

        Missing files and impossible names are left to `check`.
        """
        size = 0
        for name in self.files:
            with suppress(OSError, ValueError):
                size += (folder / name).lstat().st_size
        if size > MAX_FOLDER_BYTES:
            raise CheckpointError(folder, f"has {size:,} bytes, but at most {MAX_FOLDER_BYTES:,} are allowed")

    def check(self, folder: Path, name: str, *, contents: bool = True, max_bytes: int | None = None) -> None:
        """Raise CheckpointError when a listed file is missing, too large or, if `contents`, differs from its hash.

        No link is followed, neither at the file nor at its folder.
        """
        path = folder / name
        if path.parent != folder and path.parent.is_symlink():
            raise CheckpointError(path.parent, "is a link, which is not followed")
        try:
            with open_regular(path, max_bytes) as file:
                whole = not contents or hashlib.file_digest(file, "sha256").hexdigest() == self.files[name]
        except FileNotFoundError as error:
            raise CheckpointError(path, "is missing") from error
        except OSError as error:
            raise CheckpointError(path, f"cannot be read: {problem_of(error)}") from error
        if not whole:
            raise CheckpointError(path, f"is damaged: its sha256 is not the one in {MANIFEST_FILE}")


def manifested_files(folder: Path) -> set[str]:
    """Return the files that a checkpoint and its `derived/` list. Raises CheckpointError."""
    files, derived = {MANIFEST_FILE, *Manifest.read(folder).files}, folder / "derived"
    return files | {f"derived/{each}" for each in (manifested_files(derived) if derived.is_dir() else ())}


def manifest_hash(folder: Path) -> str:
    """Return the sha256 of a manifest. Raises OSError when there is none, CheckpointError when it is too large."""
    return sha256(folder / MANIFEST_FILE, _MAX_BYTES)


def is_hash(value: object) -> bool:
    """Return whether this is a sha256 in hex."""
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


def is_plain(name: str) -> bool:
    """Return whether this names a file of a folder, or of a folder in it, and never one that lies elsewhere."""
    return _PLAIN.fullmatch(name) is not None


def read_object(path: Path, max_bytes: int) -> dict[str, Any]:
    """Read a JSON object. Raises CheckpointError for anything else, and before reading a file that is too large."""
    try:
        value = parse_json(read_regular(path, max_bytes))
    except CheckpointError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise CheckpointError(path, f"cannot be read: {problem_of(error)}") from error
    if not isinstance(value, dict):
        raise CheckpointError(path, "expected a JSON object")
    return value
