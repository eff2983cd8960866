"""Permission to open models on this server, and the folders to choose from.

HEADLIGHT_MODELS is the root of the folders, or `off`. Without it only a local app allows opening: it listens on
loopback and the request has passed no proxy. Its root is the working folder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from viz_app.serving.request_origin import is_own_host
from viz_app.serving.server_address import is_loopback

SETTING = "HEADLIGHT_MODELS"
OFF = "off"
MAX_FOLDERS = 200  # that are offered
_MAX_LOOKED_AT = 5_000
_DEPTH = 2


def allowed_root(bound: str | None, headers: Mapping[str, str]) -> Path | None:
    """Return the folder from which a visitor may open models; None if the visitor may open none.

    Args:
        bound: Address on which this server listens; None or "" for all.
        headers: Headers of the visitor's request.
    """
    setting = os.environ.get(SETTING, "").strip()
    if setting:
        root = Path(setting)
        return None if setting.lower() == OFF or not root.is_dir() else root.resolve()
    return Path.cwd() if is_loopback(bound or "") and is_own_host(headers) else None


def model_folders(root: Path) -> dict[str, Path]:
    """Return folders that may hold a model, by path below the root; nothing is followed or opened."""
    models: dict[str, Path] = {}
    looked, level = 0, [root]
    for _ in range(_DEPTH + 1):
        below: list[Path] = []
        for folder in level:
            looked += 1
            if looked > _MAX_LOOKED_AT or len(models) >= MAX_FOLDERS:
                return models
            names, folders = _entries(folder)
            if folder != root and _may_be_model(names):
                models[folder.relative_to(root).as_posix()] = folder
            else:
                below += folders
        level = below
    return models


def _may_be_model(names: set[str]) -> bool:
    """Return whether a folder of these files may be a model: neither a training run, nor numbers of a figure alone."""
    return "config.json" in names and "metrics.jsonl" not in names


def _entries(folder: Path) -> tuple[set[str], list[Path]]:
    """Return the names of a folder's files, and its folders that are neither hidden nor links."""
    names, folders = set(), []
    try:
        with os.scandir(folder) as entries:
            for count, entry in enumerate(entries):
                if count >= _MAX_LOOKED_AT:
                    break
                if entry.is_dir(follow_symlinks=False):
                    if not entry.name.startswith((".", "_")) and entry.name != "node_modules":
                        folders.append(Path(entry.path))
                elif entry.is_file(follow_symlinks=False):
                    names.add(entry.name)
    except OSError:
        return set(), []
    return names, sorted(folders)
