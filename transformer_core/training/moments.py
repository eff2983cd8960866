"""The moments of a training at which its weights are kept, to look back on how its heads found their jobs.

Much happens early and little late, so that the moments lie evenly on a logarithmic scale. They take no part in
training: the updates are the same with them and without.
"""

from __future__ import annotations

from pathlib import Path

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor

from transformer_core.files import replace_bytes, tidy
from transformer_core.training.state import StateError

FOLDER = "moments"
_PATTERN = "step-????????.safetensors"


def moment_steps(moments: int, first: int, last: int) -> tuple[int, ...]:
    """The updates after which weights are kept: none, or 0 and about `moments` others, spaced geometrically.

    Args:
        moments: How many besides 0; 0 for none at all. One of them is the last update.
        first: The earliest of them; the last update if that comes before.
        last: The last update of the training.

    Returns:
        Whole numbers, rising, each once: where updates lie closer than 1, there are fewer than `moments`.
    """
    if moments == 0:
        return ()
    first = min(first, last)
    ratio = last / first
    spaced = (
        {round(first * ratio ** (number / (moments - 1))) for number in range(moments - 1)} if moments > 1 else set()
    )
    return tuple(sorted({0, *spaced, last}))


def moment_file(run: Path, step: int) -> Path:
    """Where the weights of a moment lie in a run."""
    return run / FOLDER / f"step-{step:08d}.safetensors"


def moments_of(run: Path) -> dict[int, Path]:
    """The moments that a run has kept: update -> file, oldest first."""
    files = sorted((run / FOLDER).glob(_PATTERN))
    return {int(file.stem.removeprefix("step-")): file for file in files if file.stem.removeprefix("step-").isdigit()}


def keep_moment(run: Path, step: int, weights: dict[str, Tensor]) -> Path:
    """Write the weights of a moment as float16, whole or not at all."""
    file = moment_file(run, step)
    file.parent.mkdir(parents=True, exist_ok=True)
    half = {name: tensor.detach().cpu().to(torch.float16).contiguous() for name, tensor in weights.items()}
    replace_bytes(file, safetensors.torch.save(half))
    return file


def forget_moments_after(run: Path, step: int) -> None:
    """Drop the moments of updates that a resumed run does again, and what a killed process left half written."""
    if (run / FOLDER).is_dir():
        tidy(run / FOLDER, "step-*")
    for moment, file in moments_of(run).items():
        if moment > step:
            file.unlink()


def load_moment(file: Path) -> dict[str, Tensor]:
    """The weights of a moment, float16. Raises StateError when the file cannot be read or holds no finite numbers."""
    try:
        weights = safetensors.torch.load_file(file)
    except (OSError, SafetensorError) as error:
        raise StateError(f"cannot read the weights in {file}: {error}") from error
    for name, tensor in weights.items():
        if not bool(torch.isfinite(tensor).all()):
            raise StateError(f"{file}: {name} has values that float16 cannot hold")
    return weights
