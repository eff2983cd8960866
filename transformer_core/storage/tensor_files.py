"""Safetensors files, and the weights of a checkpoint cut into several of them.

Apart from `files`, which the command line loads for its help, where torch would take seconds.
"""

from __future__ import annotations

import math
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from transformer_core.storage.files import CheckpointError, open_regular, problem_of, write_json
from transformer_core.storage.manifest import read_object

SHARD_BYTES = 15_000_000
ENDING = ".safetensors"
INDEX_FILE = "model.safetensors.index.json"
_MAX_INDEX_BYTES = 16_000_000
_MAX_HEADER_BYTES = 2_000_000  # of a safetensors file: 20,000 tensors; it is read again for each of them
_DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


class TensorsOnDemand(Mapping[str, Tensor]):
    """Tensors by name, made on demand one at a time, so that memory need not hold all.

    Args:
        shapes: Of each, known before.
        read: Name -> tensor of that shape.
    """

    def __init__(self, shapes: Mapping[str, tuple[int, ...]], read: Callable[[str], Tensor]) -> None:
        self.shapes, self._read = dict(shapes), read

    def __getitem__(self, name: str) -> Tensor:
        if name not in self.shapes:
            raise KeyError(name)
        return self._read(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.shapes)

    def __len__(self) -> int:
        return len(self.shapes)

    @classmethod
    def converted(cls, tensors: Mapping[str, Tensor], convert: Callable[[str, Tensor], Tensor]) -> TensorsOnDemand:
        """Return the tensors after a function of name and tensor that keeps shapes."""
        return cls(shapes_of(tensors), lambda name: convert(name, tensors[name]))

    @classmethod
    def draining(cls, tensors: dict[str, Tensor]) -> TensorsOnDemand:
        """Return the tensors for reading once: each leaves the dictionary when read, and memory after use."""
        return cls(shapes_of(tensors), tensors.pop)


def shapes_of(tensors: Mapping[str, Tensor]) -> dict[str, tuple[int, ...]]:
    """Return name -> shape, without making tensors on demand."""
    if isinstance(tensors, TensorsOnDemand):
        return tensors.shapes
    return {name: tuple(tensor.shape) for name, tensor in tensors.items()}


def save_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> None:
    """Write a safetensors file with the permissions of any other new file; `metadata` is for other programs.

    From version 0.8 safetensors makes a file readable by its owner only: a class could not open its teacher's model.
    """
    path.touch()
    mode = stat.S_IMODE(path.stat().st_mode)
    try:
        save_file(tensors, path, metadata)
    except SafetensorError as error:  # which keeps the number of the system's error in its text only
        number = re.search(r"os error (\d+)", str(error))
        raise (OSError(int(number[1]), os.strerror(int(number[1]))) if number else error) from error
    path.chmod(mode)


def save_shards(folder: Path, weights: TensorsOnDemand, width: int) -> None:
    """Write weights in files of at most SHARD_BYTES, and the index from weight to file.

    Args:
        folder: Where to.
        weights: Read one file's worth at a time.
        width: Bytes of each of their numbers.
    """
    shards: list[list[str]] = [[]]
    size = 0
    for name, shape in weights.shapes.items():
        nbytes = math.prod(shape) * width
        if shards[-1] and size + nbytes > SHARD_BYTES:
            shards.append([])
            size = 0
        shards[-1].append(name)
        size += nbytes
    index = {}
    for number, shard in enumerate(shards, start=1):
        file = f"model-{number:05d}-of-{len(shards):05d}{ENDING}"
        save_tensors(folder / file, {name: weights[name] for name in shard})
        index.update(dict.fromkeys(shard, file))
    write_json(folder / INDEX_FILE, {"metadata": {"format": "pt"}, "weight_map": index})


def weight_map(folder: Path) -> dict[str, str]:
    """Name of each weight -> name of the file that holds it. Raises CheckpointError."""
    shards = read_object(folder / INDEX_FILE, _MAX_INDEX_BYTES).get("weight_map")
    if not (isinstance(shards, dict) and all(isinstance(shard, str) for shard in shards.values())):
        raise CheckpointError(folder / INDEX_FILE, "has no weight_map from weights to files")
    return shards


def load_shards(folder: Path) -> dict[str, Tensor]:
    """Read all weights of a checkpoint, as stored. Raises CheckpointError naming the file that cannot be read."""
    weights: dict[str, Tensor] = {}
    for file in sorted(set(weight_map(folder).values())):
        try:
            check_header(folder / file)
            loaded = load_file(folder / file)
        except (OSError, SafetensorError) as error:
            raise CheckpointError(folder / file, f"cannot be read: {problem_of(error)}") from error
        for name, weight in loaded.items():
            _check(folder / file, name, weight)
        weights.update(loaded)
    return weights


def open_shards(folder: Path) -> TensorsOnDemand:
    """Open the weights of a checkpoint; each is read on demand, unlike in `load_shards`."""
    places: dict[str, Path] = {}
    shapes: dict[str, tuple[int, ...]] = {}
    for path in (folder / file for file in sorted(set(weight_map(folder).values()))):
        with _opened(path) as tensors:
            file_shapes = {name: tuple(tensors.get_slice(name).get_shape()) for name in tensors.keys()}  # noqa: SIM118
        shapes.update(file_shapes)
        places.update(dict.fromkeys(file_shapes, path))

    def read(name: str) -> Tensor:
        path = places[name]
        with _opened(path) as tensors:
            weight: Tensor = tensors.get_tensor(name)
        _check(path, name, weight)
        return weight

    return TensorsOnDemand(shapes, read)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """A safetensors file. Raises CheckpointError naming it when it cannot be read."""
    try:
        check_header(path)
        with safe_open(path, framework="pt") as tensors:
            yield tensors
    except (OSError, SafetensorError) as error:
        raise CheckpointError(path, f"cannot be read: {problem_of(error)}") from error


def check_header(path: Path, max_bytes: int | None = None) -> None:
    """Raise CheckpointError like `open_regular`, or for names and shapes that take too much memory to read."""
    with open_regular(path, max_bytes) as file:
        if int.from_bytes(file.read(8), "little") > _MAX_HEADER_BYTES:
            raise CheckpointError(path, f"cannot be read: its header has more than {_MAX_HEADER_BYTES:,} bytes")


def all_finite(tensor: Tensor) -> bool:
    """Return whether all numbers of a tensor are finite, without copies of its size."""
    # The extremes are infinite, or NaN, if any number is; they are found 20 times as fast as isfinite looks at all.
    return tensor.numel() == 0 or bool(torch.isfinite(torch.stack(torch.aminmax(tensor.reshape(-1)))).all())


def _check(path: Path, name: str, weight: Tensor) -> None:
    """Raise CheckpointError for a weight of a kind that is not allowed, or with values that are not finite."""
    if weight.dtype not in _DTYPES:
        kinds = ", ".join(str(kind).removeprefix("torch.") for kind in _DTYPES)
        raise CheckpointError(path, f"{name} is of type {weight.dtype}, but must be one of {kinds}")
    if not all_finite(weight):
        raise CheckpointError(path, f"{name} has values that are not finite numbers")
