"""Safetensors files, and the weights of a checkpoint cut into several of them.

Apart from `files`, which the command line loads for its help, where torch would take seconds.
"""

from __future__ import annotations

import stat
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from transformer_core.files import CheckpointError, open_regular, problem_of, write_json
from transformer_core.manifest import read_object

SHARD_BYTES = 15_000_000
ENDING = ".safetensors"
INDEX_FILE = "model.safetensors.index.json"
_MOST_INDEX_BYTES = 16_000_000
_DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def save_tensors(path: Path, tensors: dict[str, Tensor]) -> None:
    """Write a safetensors file with the permissions of any other new file.

    From version 0.8 safetensors makes a file readable by its owner only: a class could not open its teacher's model.
    """
    path.touch()
    mode = stat.S_IMODE(path.stat().st_mode)
    save_file(tensors, path)
    path.chmod(mode)


def save_shards(folder: Path, weights: dict[str, Tensor]) -> None:
    """Write weights in files of at most SHARD_BYTES, and the index that tells which holds which."""
    shards: list[dict[str, Tensor]] = [{}]
    size = 0
    for name, tensor in weights.items():
        nbytes = tensor.numel() * tensor.element_size()
        if shards[-1] and size + nbytes > SHARD_BYTES:
            shards.append({})
            size = 0
        shards[-1][name] = tensor
        size += nbytes
    index = {}
    for number, shard in enumerate(shards, start=1):
        file = f"model-{number:05d}-of-{len(shards):05d}{ENDING}"
        save_tensors(folder / file, shard)
        index.update(dict.fromkeys(shard, file))
    write_json(folder / INDEX_FILE, {"metadata": {"format": "pt"}, "weight_map": index})


def weight_map(folder: Path) -> dict[str, str]:
    """Name of each weight -> name of the file that holds it. Raises CheckpointError."""
    shards = read_object(folder / INDEX_FILE, _MOST_INDEX_BYTES).get("weight_map")
    if not (isinstance(shards, dict) and all(isinstance(shard, str) for shard in shards.values())):
        raise CheckpointError(folder / INDEX_FILE, "has no weight_map from weights to files")
    return shards


def load_shards(folder: Path) -> dict[str, Tensor]:
    """All weights of a checkpoint, as they are stored. Raises CheckpointError naming the file that cannot be read."""
    weights: dict[str, Tensor] = {}
    for file in sorted(set(weight_map(folder).values())):
        try:
            open_regular(folder / file).close()
            loaded = load_file(folder / file)
        except (OSError, SafetensorError) as error:
            raise CheckpointError(folder / file, f"cannot be read: {problem_of(error)}") from error
        for name, weight in loaded.items():
            if weight.dtype not in _DTYPES:
                kinds = ", ".join(str(kind).removeprefix("torch.") for kind in _DTYPES)
                raise CheckpointError(folder / file, f"{name} is of type {weight.dtype}, but must be one of {kinds}")
            if not bool(torch.isfinite(weight).all()):
                raise CheckpointError(folder / file, f"{name} has values that are not finite numbers")
        weights.update(loaded)
    return weights
