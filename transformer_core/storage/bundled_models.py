"""Models that come with the code: beside it in a checkout, in a package of data once installed."""

from __future__ import annotations

from pathlib import Path

_FOLDER = "checkpoints"  # as paths in commands and files name it, wherever it is
_BESIDE = Path(__file__).resolve().parents[2]
_INSTALLED = _BESIDE / "headlight_checkpoints"

SHIPPED = _INSTALLED if _INSTALLED.is_dir() else _BESIDE / _FOLDER


def find_checkpoint(path: str) -> str:
    """Return the checkpoint that a path names: the folder itself, or else the shipped one of that name.

    So `checkpoints/en-de` means the same in every working directory, and `en-de` does too. A path that names neither
    comes back as it is.
    """
    folder = Path(path)
    if folder.exists() or folder.is_absolute():
        return path
    parts = folder.parts[1:] if folder.parts[:1] == (_FOLDER,) else folder.parts
    shipped = SHIPPED.joinpath(*parts)
    return str(shipped) if parts and ".." not in parts and shipped.is_dir() else path


def hub_hint(path: str) -> str:
    """Return the end of an error for a missing folder that looks like a name on a hub; empty for other paths."""
    folder = Path(path)
    looks = len(folder.parts) == 2 and not folder.is_absolute() and not folder.parent.exists()
    return "; download a model of a hub, and convert it: docs/models.md" if looks else ""


def shipped_name(folder: Path) -> str | None:
    """Return the name of a shipped folder in commands, such as `checkpoints/en-de`; None for any other."""
    folder = folder.resolve()
    return (Path(_FOLDER) / folder.relative_to(SHIPPED)).as_posix() if folder.is_relative_to(SHIPPED) else None
