"""Safetensors files. Apart from `files`, which the command line loads for its help, where torch would take seconds."""

from __future__ import annotations

import stat
from pathlib import Path

from safetensors.torch import save_file
from torch import Tensor


def save_tensors(path: Path, tensors: dict[str, Tensor]) -> None:
    """Write a safetensors file with the permissions of any other new file.

    From version 0.8 safetensors makes a file readable by its owner only: a class could not open its teacher's model.
    """
    path.touch()
    mode = stat.S_IMODE(path.stat().st_mode)
    save_file(tensors, path)
    path.chmod(mode)
