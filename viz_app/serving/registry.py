"""Which models a visitor can choose from, by name, and what their files tell of them; nothing here loads one.

A name that comes from an address or from a session is looked up here and never taken for a path.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from viz_app.serving.metrics import Languages, ModelCard
from viz_app.text import Texts

ROOT = Path(__file__).resolve().parents[2]
DEFAULT_CHECKPOINT = ROOT / "checkpoints" / "en-de"

_GIT_SECONDS = 5


def checkpoint_folder() -> Path:
    """The checkpoint that the app serves to who chooses none: HEADLIGHT_CHECKPOINT, or the one of the repository."""
    return Path(os.environ.get("HEADLIGHT_CHECKPOINT") or DEFAULT_CHECKPOINT)


def models() -> dict[str, Path]:
    """All models by name, the one that is served to who chooses none first.

    The others are what HEADLIGHT_CHECKPOINTS lists, or checkpoints/*/. Of two folders that are called alike the second
    one has a number.
    """
    served = checkpoint_folder()
    listed = os.environ.get("HEADLIGHT_CHECKPOINTS", "")
    folders = [Path(part) for part in listed.split(os.pathsep) if part.strip()]
    if not folders:
        folders = sorted(path.parent for path in (ROOT / "checkpoints").glob("*/config.json"))
    found = {served.resolve().name: served}
    there = {served.resolve()}
    for folder in folders:
        if folder.resolve() in there or not (folder / "config.json").is_file():
            continue
        there.add(folder.resolve())
        name, number = folder.name, 2
        while name in found:
            name, number = f"{folder.name} ({number})", number + 1
        found[name] = folder
    return found


def is_tracked(folder: Path) -> bool:
    """Whether the repository of the app tracks this model, so that Git can fetch it again; else it is the user's own.

    Its `config.json` decides, which only the folder of a model has: a whole repository is no model to fetch again.
    """
    config = folder.resolve() / "config.json"
    if not config.is_relative_to(ROOT):
        return False
    command = ["git", "--literal-pathspecs", "ls-files", "--", str(config)]
    try:
        found = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=_GIT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):  # no Git, so nothing that it could fetch
        return False
    return found.returncode == 0 and bool(found.stdout)


def default_model() -> str:
    """Name of the model that is served to who chooses none."""
    return next(iter(models()))


def languages(folder: Path) -> Languages | None:
    """What a checkpoint reads and writes, from its files, without loading it; None when they do not tell."""
    path = folder / "metrics.json"
    try:
        return _read(path, path.stat().st_mtime_ns)
    except OSError:
        return None


@lru_cache(maxsize=64)
def _read(path: Path, written: int) -> Languages | None:
    """`written` is when that was: a file that was written anew is another one."""
    try:
        metrics = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return ModelCard.read(metrics).languages if isinstance(metrics, Mapping) else None


def titles(t: Texts) -> dict[str, str]:
    """What each model is called on the page: its languages, in the reader's; its folder's name when it tells none.

    Of several with the same languages each has its name beside them.
    """
    names = {name: title(t, name, languages(folder)) for name, folder in models().items()}
    shared = {told for told in names.values() if list(names.values()).count(told) > 1}
    return {name: f"{told} ({name})" if told in shared else told for name, told in names.items()}


def title(t: Texts, name: str, told: Languages | None) -> str:
    """What a model is called where there is no other: "English → German", or its name."""
    if told is None:
        return name
    return t("models.pair", source=language_name(t, told.source), target=language_name(t, told.target))


def language_name(t: Texts, code: str) -> str:
    """A language in the reader's language: German for "de" and "de-AT"; the code itself for one that the app lacks."""
    known = code.split("-")[0].lower()
    return t(f"languages.{known}") if known in t.table("languages") else code
