"""A folder that somebody else made: JSON, vocabularies and tensors, read without trust and one tensor at a time.

Tensors come from safetensors files, or from `pytorch_model.bin`, which is read with `weights_only` and so runs no code.
Either may be cut into shards with an index. Nothing is read through links or outside the folder.
"""

from __future__ import annotations

import pickle
import zipfile
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from transformer_core.files import open_regular, problem_of, read_regular
from transformer_core.manifest import is_plain, read_object

MOST_JSON_BYTES = 64_000_000  # vocab.json of NLLB-200 has 6 MB, tokenizer.json of all has less
MOST_MODEL_BYTES = 50_000_000  # of a SentencePiece model
_MOST_SHARD_BYTES = 50_000_000_000
_MOST_SHARDS = 1_000
_MOST_TENSORS = 100_000
_MOST_VALUES = 2**34  # of a tensor
_DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")

Shape = tuple[int, ...]


class ConversionError(ValueError):
    """A model that cannot be converted; the message says what it was taken for, and what is wrong or missing."""


class ForeignFolder:
    """A model folder of another program.

    Args:
        path: The folder.

    Raises:
        ConversionError: It is no folder.
    """

    def __init__(self, path: Path) -> None:
        if not path.is_dir():
            raise ConversionError(f"{path}: folder not found")
        self.path = path

    def has(self, name: str) -> bool:
        """Whether the folder has such a file."""
        return (self.path / name).is_file()

    def json(self, name: str) -> dict[str, Any]:
        """A JSON object. Raises CheckpointError for anything else."""
        return read_object(self.path / name, MOST_JSON_BYTES)

    def json_if_there(self, name: str) -> dict[str, Any]:
        """A JSON object, empty where there is no such file."""
        return self.json(name) if self.has(name) else {}

    def contents(self, name: str, most_bytes: int = MOST_MODEL_BYTES) -> bytes:
        """A file of at most so many bytes. Raises ConversionError when it is missing."""
        try:
            return read_regular(self.path / name, most_bytes)
        except OSError as error:
            raise ConversionError(f"{self.path / name}: {problem_of(error)}") from error

    @cached_property
    def _places(self) -> dict[str, Path]:
        """Name of each tensor -> the file that holds it."""
        for whole in _WEIGHTS:
            index = f"{whole}.index.json"
            if self.has(index):
                return self._from_index(index)
            if self.has(whole):
                path = self.path / whole
                return dict.fromkeys(_opened(path).shapes, path)
        raise ConversionError(
            f"{self.path}: has no {' or '.join(_WEIGHTS)}, whole or with an index; other weights are not read"
        )

    def _from_index(self, name: str) -> dict[str, Path]:
        at, shards = self.path / name, self.json(name).get("weight_map")
        if not isinstance(shards, dict) or not 0 < len(shards) <= _MOST_TENSORS:
            raise ConversionError(f"{at}: has no weight_map of 1 to {_MOST_TENSORS:,} tensors")
        for file in shards.values():
            if not isinstance(file, str) or not is_plain(file) or "/" in file:
                raise ConversionError(f"{at}: {str(file)[:80]!r} is not the name of a file in this folder")
        if (count := len(set(shards.values()))) > _MOST_SHARDS:
            raise ConversionError(f"{at}: names {count:,} files, but at most {_MOST_SHARDS:,} are allowed")
        in_order = sorted(shards.items(), key=lambda pair: (pair[1], pair[0]))
        return {tensor: self.path / file for tensor, file in in_order}

    @cached_property
    def shapes(self) -> Mapping[str, Shape]:
        """Name of each tensor -> its shape, shard by shard; nothing but headers is read.

        Raises:
            ConversionError: A file cannot be read, holds something else than an index says, or numbers of another kind.
        """
        found: dict[str, Shape] = {}
        for path in dict.fromkeys(self._places.values()):
            shapes = _opened(path).shapes
            for name in (name for name, place in self._places.items() if place == path):
                if name not in shapes:
                    raise ConversionError(f"{path}: has no tensor {name}, which the index says it holds")
                found[name] = shapes[name]
        return found

    def tensor(self, name: str) -> Tensor:
        """A tensor as it is stored. Only the file asked last stays open."""
        path = self._places[name]
        if self._last is None or self._last.path != path:
            self._last = None  # before the next one is read
            self._last = _opened(path)
        found = self._last.tensor(name)
        if found.dtype not in _DTYPES:
            kinds = ", ".join(str(kind).removeprefix("torch.") for kind in _DTYPES)
            raise ConversionError(f"{path}: {name} is of type {found.dtype}, but must be one of {kinds}")
        return found

    _last: TensorFile | None = None


class TensorFile:
    """A file of tensors: names with shapes, and each tensor when it is asked for."""

    path: Path
    shapes: Mapping[str, Shape]

    def tensor(self, name: str) -> Tensor:
        """The tensor of that name."""
        raise NotImplementedError


class _Safetensors(TensorFile):
    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            open_regular(path, _MOST_SHARD_BYTES).close()
            self._file: Any = cast(Any, safe_open)(path, framework="pt")
            self._file.__enter__()
            names = list(self._file.keys())
            self.shapes = {name: tuple(self._file.get_slice(name).get_shape()) for name in names}
        except (OSError, SafetensorError) as error:
            raise ConversionError(f"{path}: cannot be read: {problem_of(error)}") from error

    def tensor(self, name: str) -> Tensor:
        found: Tensor = self._file.get_tensor(name)
        return found


class _Pickled(TensorFile):
    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            open_regular(path, _MOST_SHARD_BYTES).close()
            # Only files in zip format can be mapped into memory; older ones are read whole.
            loaded = torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
        except pickle.UnpicklingError as error:
            raise ConversionError(
                f"{path}: holds more than tensors (code that pickle would run), so it is not read; "
                "save the model as safetensors first"
            ) from error
        except (OSError, RuntimeError, ValueError, EOFError, KeyError, AttributeError, TypeError) as error:
            reason = (str(error) or type(error).__name__).splitlines()[0][:200]
            raise ConversionError(f"{path}: cannot be read: {reason}") from error
        if not isinstance(loaded, dict):
            raise ConversionError(f"{path}: holds no tensors by name")
        self._tensors: dict[str, Tensor] = {}
        for name, value in loaded.items():
            if not isinstance(name, str) or not isinstance(value, Tensor) or value.is_sparse or value.is_quantized:
                raise ConversionError(f"{path}: {str(name)[:100]!r} is no plain tensor")
            self._tensors[name] = value
        self.shapes = {name: tuple(value.shape) for name, value in self._tensors.items()}

    def tensor(self, name: str) -> Tensor:
        return self._tensors[name]


def _opened(path: Path) -> TensorFile:
    kind = _Safetensors if path.suffix == ".safetensors" else _Pickled
    opened = kind(path)
    if len(opened.shapes) > _MOST_TENSORS:
        raise ConversionError(f"{path}: holds more than {_MOST_TENSORS:,} tensors")
    for name, shape in opened.shapes.items():
        size = 1
        for each in shape:
            size *= each
        if size > _MOST_VALUES:
            raise ConversionError(f"{path}: {name} has shape {shape}, which is too large")
    return opened
