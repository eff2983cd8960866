"""`derived/` in a checkpoint: what was measured from its model afterwards, and can be made anew from it.

    scores.json ...  parts of the checkpoint's metrics, each by its name in MEASURED
    history/         how its heads developed, see history.py
    manifest.json    the `weights_hash` of the model that all of it belongs to, and the sha256 of every file

None of it is part of the model's identity. Measurements of another model are refused, never shown. Checkpoints from
before this folder hold `history/` and all metrics beside `config.json`, which still opens.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from transformer_core.storage.files import CheckpointError, atomic_directory, exclusive, sha256
from transformer_core.storage.format_1 import current_names
from transformer_core.storage.manifest import MANIFEST_FILE, Manifest, is_plain, read_object

FOLDER = "derived"
MEASURED = ("scores", "heads", "alignment", "methods", "probes", "forced")  # parts of the metrics in this folder
METRICS_FILE = "metrics.json"
MAX_METRIC_BYTES = 16_000_000


def derived_manifest(checkpoint: Path, weights_hash: str | None = None) -> Manifest:
    """Return the manifest of what was derived from a model; empty where there is no such folder.

    Args:
        checkpoint: The checkpoint's folder.
        weights_hash: Of its model; None takes the one in its manifest.

    Raises:
        CheckpointError: The manifest is damaged, or of another model.
    """
    folder = checkpoint / FOLDER
    if folder.is_symlink():
        raise CheckpointError(folder, "is a link, which is not followed")
    if not folder.is_dir():
        return Manifest()
    if weights_hash is None:
        weights_hash = Manifest.read(checkpoint).weights_hash
    manifest = Manifest.read(folder)
    if not weights_hash or manifest.weights_hash != weights_hash:
        raise CheckpointError(
            folder,
            f"was made from the model {manifest.weights_hash[:12]}, but this is {weights_hash[:12] or 'unnamed'}; "
            "rebuild it with python -m transformer_core derived",
        )
    return manifest


def derived_file(checkpoint: Path, name: str, weights_hash: str | None = None) -> Path | None:
    """Read a derived file and check its hash; None where there is none. Raises CheckpointError for a damaged one."""
    manifest = derived_manifest(checkpoint, weights_hash)
    if name not in manifest.files:
        return None
    manifest.check(checkpoint / FOLDER, name, max_bytes=MAX_METRIC_BYTES)
    return checkpoint / FOLDER / name


def derived_metrics(checkpoint: Path, weights_hash: str | None = None) -> dict[str, Any]:
    """Return the measured parts of a checkpoint's metrics. Raises CheckpointError as `derived_file`."""
    paths = {part: derived_file(checkpoint, f"{part}.json", weights_hash) for part in MEASURED}
    return {part: read_object(path, MAX_METRIC_BYTES) for part, path in paths.items() if path}


def read_metrics(checkpoint: Path) -> dict[str, Any]:
    """Return all metrics of a checkpoint, without loading it. Raises CheckpointError as `derived_file`."""
    return current_names(read_object(checkpoint / METRICS_FILE, MAX_METRIC_BYTES) | derived_metrics(checkpoint))


def json_file(value: Any) -> bytes:
    """Return a derived part as the bytes of its file."""
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def write_derived(checkpoint: Path, weights_hash: str, files: Mapping[str, bytes]) -> None:
    """Add files to what was derived from a model, or replace them; whole or not at all.

    Files of another model, and damaged ones, are removed.

    Args:
        checkpoint: The checkpoint's folder.
        weights_hash: Of its model.
        files: Contents by name, which may name a folder in front: `history/history.json`.

    Raises:
        ValueError: A name that leads elsewhere.
    """
    for name in files:
        if not is_plain(name) or name == MANIFEST_FILE:
            raise ValueError(f"{name!r} cannot be the name of a derived file")
    folder = checkpoint / FOLDER
    with exclusive(checkpoint), atomic_directory(folder) as partial:
        others = [name for name in _sound(checkpoint, weights_hash) if name not in files]
        for name in {*others, *files}:
            (partial / name).parent.mkdir(exist_ok=True)
        for name in others:
            shutil.copyfile(folder / name, partial / name)
        for name, data in files.items():
            (partial / name).write_bytes(data)
        hashes = {name: sha256(partial / name) for name in {*others, *files}}
        Manifest(files=hashes, weights_hash=weights_hash).write(partial)


def _sound(checkpoint: Path, weights_hash: str) -> Iterable[str]:
    """Yield the names of the files whose hash is in the manifest."""
    try:
        manifest = derived_manifest(checkpoint, weights_hash)
    except CheckpointError:
        return
    for name in manifest.files:
        try:
            manifest.check(checkpoint / FOLDER, name)
        except CheckpointError:
            continue
        yield name
