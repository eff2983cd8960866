"""File of an atlas: one JSON object, `atlas.json`, small enough to ship in a checkpoint's `derived/`.

Arrays are nested lists; null is NaN.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from transformer_core.atlas.checks import check
from transformer_core.atlas.record import Atlas
from transformer_core.storage.files import CheckpointError, atomic_write_bytes, problem_of, read_regular
from transformer_core.storage.measurements import derived_file

FORMAT_VERSION = 1
FILE = "atlas.json"
MAX_BYTES = 3_000_000
_MAX_NUMBERS = 500_000  # of one array
_MAX_DIMENSIONS = 4
_DIGITS = 5  # after the point


def _to_json(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        rounded = np.round(value.astype(np.float64), _DIGITS) + 0.0  # no -0.0
        return rounded.tolist()
    raise NotImplementedError(type(value))


def _from_json(kind: Any, value: Any) -> Any:
    """Convert a nested list to an array of finite numbers, NaN for null."""
    if not isinstance(value, (list, float, int)) or isinstance(value, bool):
        raise ValueError("expected numbers")
    leaves: list[Any] = [value]
    depth = 0
    while any(isinstance(leaf, list) for leaf in leaves):
        depth += 1
        if depth > _MAX_DIMENSIONS or not all(isinstance(leaf, list) for leaf in leaves):
            raise ValueError("expected an array")
        leaves = [each for leaf in leaves for each in leaf]
        if len(leaves) > _MAX_NUMBERS:
            raise ValueError(f"has more than {_MAX_NUMBERS:,} numbers")
    if not all(leaf is None or (type(leaf) in (int, float) and math.isfinite(leaf)) for leaf in leaves):
        raise ValueError("expected finite numbers or null")
    return np.array(value, dtype=np.float64)


def to_bytes(atlas: Atlas) -> bytes:
    """Return the bytes of the file. Raises ValueError if the atlas is too large."""
    data = msgspec.json.format(msgspec.json.encode(atlas, enc_hook=_to_json), indent=0) + b"\n"
    if len(data) > MAX_BYTES:
        raise ValueError(f"the atlas has {len(data):,} bytes, but at most {MAX_BYTES:,} are allowed")
    return data


def save_atlas(atlas: Atlas, path: Path) -> None:
    """Write an atlas atomically."""
    atomic_write_bytes(path, to_bytes(atlas))


def load_atlas(path: Path | str, weights_hash: str | None = None) -> Atlas:
    """Read an untrusted atlas.

    Args:
        path: The file.
        weights_hash: Of the required model; None takes any.

    Raises:
        CheckpointError: It is missing, too large, damaged, of another format or of another model.
    """
    path = Path(path)
    try:
        atlas = msgspec.json.decode(read_regular(path, MAX_BYTES), type=Atlas, dec_hook=_from_json)
    except CheckpointError:
        raise
    except (OSError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise CheckpointError(path, f"cannot be read: {problem_of(error)}") from error
    if atlas.format_version != FORMAT_VERSION:
        raise CheckpointError(path, f"has format {atlas.format_version}, this program reads {FORMAT_VERSION}")
    if weights_hash is not None and atlas.weights_hash != weights_hash:
        raise CheckpointError(path, f"is of the model {atlas.weights_hash[:12]}, not of {weights_hash[:12]}")
    try:
        check(atlas)
    except ValueError as error:
        raise CheckpointError(path, f"cannot be read: {error}") from error
    return atlas


def shipped_atlas(checkpoint: Path, weights_hash: str | None = None) -> Atlas | None:
    """Read the atlas in the `derived/` of a checkpoint; None if there is none.

    Args:
        checkpoint: The checkpoint's folder.
        weights_hash: Of its model; None takes the one in its manifest.

    Raises:
        CheckpointError: It is damaged or of another model.
    """
    path = derived_file(checkpoint, FILE, weights_hash)
    return None if path is None else load_atlas(path, weights_hash)
