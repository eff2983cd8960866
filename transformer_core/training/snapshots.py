"""Snapshots of the weights during training, from which `history` shows how the attention heads developed.

Much happens early and little late, so snapshots are spaced evenly on a logarithmic scale. Training is bit for bit the
same with and without them.
"""

from __future__ import annotations

from pathlib import Path

import safetensors.torch
import torch
from torch import Tensor

from transformer_core.storage.files import atomic_write_bytes, recover_interrupted_writes
from transformer_core.training.state import StateError, read_weights

FOLDER = "moments"  # as training runs of format 1 call it
_PATTERN = "step-????????.safetensors"


def snapshot_steps(count: int, first: int, last: int) -> tuple[int, ...]:
    """Return the steps after which weights are saved: none, or 0 and about `count` others, spaced geometrically.

    Args:
        count: How many besides step 0; 0 for none at all. One of them is the last step.
        first: The earliest of them; the last step if that comes before.
        last: The last step of the training.

    Returns:
        Whole numbers, rising, each once: where steps would be closer than 1, there are fewer than `count`.
    """
    if count == 0:
        return ()
    first = min(first, last)
    ratio = last / first
    spaced = {round(first * ratio ** (number / (count - 1))) for number in range(count - 1)} if count > 1 else set()
    return tuple(sorted({0, *spaced, last}))


def snapshot_file(run: Path, step: int) -> Path:
    """Return the file of a snapshot in the folder of a run."""
    return run / FOLDER / f"step-{step:08d}.safetensors"


def snapshot_files(run: Path) -> dict[int, Path]:
    """Return the snapshots of a run: step -> file, oldest first."""
    files = sorted((run / FOLDER).glob(_PATTERN))
    return {int(file.stem.removeprefix("step-")): file for file in files if file.stem.removeprefix("step-").isdigit()}


def save_snapshot(run: Path, step: int, weights: dict[str, Tensor]) -> Path:
    """Write weights as float16, atomically."""
    file = snapshot_file(run, step)
    file.parent.mkdir(parents=True, exist_ok=True)
    half = {name: tensor.detach().cpu().to(torch.float16).contiguous() for name, tensor in weights.items()}
    atomic_write_bytes(file, safetensors.torch.save(half))
    return file


def remove_snapshots_after(run: Path, step: int) -> None:
    """Remove the snapshots of steps that a resumed run repeats, and what a killed process left half written."""
    if (run / FOLDER).is_dir():
        recover_interrupted_writes(run / FOLDER, "step-*")
    for saved, file in snapshot_files(run).items():
        if saved > step:
            file.unlink()


def load_snapshot(file: Path) -> dict[str, Tensor]:
    """Load the float16 weights of a snapshot. Raises StateError for a damaged file or weights that are not finite."""
    weights = read_weights(file)
    for name, tensor in weights.items():
        if not bool(torch.isfinite(tensor).all()):
            raise StateError(f"{file}: {name} has values that float16 cannot hold")
    return weights
