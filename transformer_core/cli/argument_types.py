"""Types of arguments: reading of one value, with errors that say what is allowed; checks of paths."""

from __future__ import annotations

import argparse
import glob
import inspect
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args, get_type_hints

from transformer_core.config import ConfigError
from transformer_core.storage.bundled_models import hub_hint
from transformer_core.storage.files import CheckpointError, read_regular, recover_interrupted_writes

_MAX_TEXT_BYTES = 16_000_000  # of a recipe, a card or metrics
_BOOLEANS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


class UsageError(ConfigError):
    """Arguments that cannot be used; the message says why and what is allowed."""


def check_at_least(option: str, value: int, least: int) -> None:
    """Raise UsageError for a number that is too small."""
    if value < least:
        raise UsageError(f"{option} is {value}, but must be {least} or more")


def existing(option: str, path: str, *, folder: bool = False) -> Path:
    """Return the path of an option. Raises UsageError when it is missing, or of another kind."""
    if missing := not_found(path, folder=folder):
        raise UsageError(f"{option}: {missing}")
    return Path(path)


def small_text(option: str, path: str) -> str:
    """Return the text of a small file. Raises UsageError when it is none."""
    try:
        text = read_regular(Path(path).resolve(), _MAX_TEXT_BYTES).decode("utf-8")
    except CheckpointError as error:
        raise UsageError(f"{option}: {error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{option}: {path} is not UTF-8 text: {error}") from error
    return text.replace("\r\n", "\n")


def existing_text(option: str, spec: str) -> str:
    """Return a parallel text: one file, or two with a comma between. Raises UsageError when one is missing."""
    if missing := not_found(spec, parallel=True):
        raise UsageError(f"{option}: {missing}")
    return spec


def not_found(spec: str, *, folder: bool = False, parallel: bool = False) -> str:
    """Name the file or folder that is missing; empty when none is."""
    for path in spec.split(",", 1) if parallel and "," in spec and not Path(spec).exists() else [spec]:
        if not (Path(path).is_dir() if folder else Path(path).is_file()):
            return f"{'folder' if folder else 'file'} not found: {path}{hub_hint(path) if folder else ''}"
    return ""


def check_new_file(option: str, path: Path, force: bool) -> None:
    """Raise UsageError for a file that cannot be written, or may not be replaced, as no device, pipe or socket may."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise UsageError(f"{option}: {path} is no regular file, and is never replaced; choose another file")
    if path.exists() and (path.is_dir() or not force):
        raise UsageError(f"{option}: {path} exists; add --force to replace it, or choose another file")
    if not path.parent.is_dir():
        raise UsageError(f"{option}: folder not found: {path.parent}")
    check_place(option, path)
    recover_interrupted_writes(path.parent, glob.escape(path.name))


def check_place(option: str, path: Path, *, inside: bool = False) -> None:
    """Raise UsageError, before any work, for a place where this user cannot write: beside a path, or inside it."""
    place = next(each for each in (path.absolute() / ("new" if inside else "")).parents if each.exists())
    if not os.access(place, os.W_OK):
        raise UsageError(f"{option}: {path} cannot be written: {place} is read-only for you")


def output_path(name: str) -> Path:
    """Return where to write: the target of a link to a file or folder, so that the link stays."""
    path = Path(name)
    is_replaceable = path.is_file() or path.is_dir() or not path.exists()
    return path.resolve() if path.is_symlink() and is_replaceable else path


def check_new_folder(path: Path, hint: str = "choose a new folder") -> None:
    """Raise UsageError when --out exists and is not an empty folder; first undo what a killed process has left."""
    recover_interrupted_writes(path.parent, glob.escape(path.name))
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise UsageError(f"--out: {path} is not empty; {hint}")
    check_place("--out", path, inside=True)


# --- types; argparse shows the messages of ArgumentTypeError ----------------------------------------------------------


def field_help(config: type) -> dict[str, str]:
    """Return the help of every field, from `Args:` of the docstring."""
    help_of: dict[str, str] = {}
    name = ""
    for line in (inspect.getdoc(config) or "").partition("Args:\n")[2].splitlines():
        if line.startswith("     "):
            help_of[name] += f" {line.strip()}"
        elif line.strip():
            name, _, help_of[name] = line.strip().partition(": ")
    return {name: about.replace("%", "%%") for name, about in help_of.items()}


def field_type(config: type, name: str) -> dict[str, Any]:
    """Return how `add_argument` reads a field."""
    kind = get_type_hints(config)[name]
    if kind is bool:
        return {"type": bool, "metavar": "true|false"}
    return choice_type(get_args(kind)) if get_args(kind) else {"type": kind, "metavar": "N"}


def choice_type(allowed: Sequence[str], of: str = "one of") -> dict[str, Any]:
    """Return how `add_argument` reads one word of several."""

    def read(text: str) -> str:
        if text not in allowed:
            raise argparse.ArgumentTypeError(f"is {text!r}, but must be {of} {', '.join(allowed)}")
        return text

    return {"type": read, "choices": allowed, "metavar": "|".join(allowed)}


def sentence_text(text: str) -> str:
    """Read a sentence: valid UTF-8, and not empty."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError("is not valid UTF-8") from None
    if not text.strip():
        raise argparse.ArgumentTypeError("is empty, but must be a sentence")
    return text


def whole_number(text: str) -> int:
    """Read a whole number."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"is {text!r}, but must be a whole number") from None


def number(text: str) -> float:
    """Read a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"is {text!r}, but must be a number")
    return value


def boolean(text: str) -> bool:
    """Read true or false."""
    if text.lower() not in _BOOLEANS:
        raise argparse.ArgumentTypeError(f"is {text!r}, but must be true or false")
    return _BOOLEANS[text.lower()]


def bounded_number(least: int, most: int | None) -> Callable[[str], int]:
    """Return the type of a whole number within bounds."""

    def bounded(text: str) -> int:
        value = whole_number(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"is {value}, but must be {least} or more")
        if most is not None and value > most:
            raise argparse.ArgumentTypeError(f"is {value}, but must be {most:,} or less")
        return value

    return bounded


def path_type(read: Callable[[str], str], *, folder: bool, parallel: bool, hint: str = "") -> Callable[[str], str]:
    """Return the type of a path that exists; the error for any other ends with the hint."""

    def existing_path(name: str) -> str:
        path = read(name)
        if missing := not_found(path, folder=folder, parallel=parallel):
            raise argparse.ArgumentTypeError(f"{missing}; {hint}" if hint else missing)
        return path

    return existing_path
