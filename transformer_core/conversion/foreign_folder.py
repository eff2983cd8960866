"""Reader of an untrusted model folder: JSON, vocabularies, and tensors one at a time.

Tensors come from safetensors files, or from `pytorch_model.bin`, which is read with `weights_only` and so runs no code.
Either may be split into shards with an index. Nothing is read through links or outside the folder.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer_core.conversion.tensor_sources import MAX_TENSORS as MAX_TENSORS
from transformer_core.conversion.tensor_sources import ConversionError as ConversionError
from transformer_core.conversion.tensor_sources import Shape as Shape
from transformer_core.conversion.tensor_sources import TensorFile, opened
from transformer_core.storage.files import problem_of, read_regular
from transformer_core.storage.manifest import is_plain, read_object
from transformer_core.text.tokenizer import MAX_BYTES

MAX_JSON_BYTES = 32_000_000  # tokenizer.json of NLLB-200 has 17 MB
_MAX_SHARDS = 1_000
_DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
_VALUES_AT_A_TIME = 2**23
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")


class ForeignFolder:
    """A model folder of another program.

    Args:
        path: The folder.

    Raises:
        ConversionError: There is no such folder.
    """

    def __init__(self, path: Path) -> None:
        if not path.is_dir():
            raise ConversionError(f"{path}: folder not found")
        self.path = path

    def has(self, name: str) -> bool:
        """Return whether the folder has a file of this name."""
        return (self.path / name).is_file()

    def json(self, name: str) -> dict[str, Any]:
        """Read a JSON object. Raises CheckpointError for anything else."""
        return read_object(self.path / name, MAX_JSON_BYTES)

    def json_if_there(self, name: str) -> dict[str, Any]:
        """Read a JSON object; empty if there is no such file."""
        return self.json(name) if self.has(name) else {}

    def contents(self, name: str, max_bytes: int = MAX_BYTES) -> bytes:
        """Read a file of limited size. Raises ConversionError if it is missing."""
        try:
            return read_regular(self.path / name, max_bytes)
        except OSError as error:
            raise ConversionError(f"{self.path / name}: {problem_of(error)}") from error

    @cached_property
    def _places(self) -> dict[str, Path]:
        """Name of each tensor -> its file."""
        for whole in _WEIGHTS:
            index = f"{whole}.index.json"
            if self.has(index):
                return self._from_index(index)
            if self.has(whole):
                path = self.path / whole
                return dict.fromkeys(opened(path).shapes, path)
        raise ConversionError(
            f"{self.path}: has no {' or '.join(_WEIGHTS)}, whole or with an index; other weights are not read"
        )

    def _from_index(self, name: str) -> dict[str, Path]:
        at, shards = self.path / name, self.json(name).get("weight_map")
        if not isinstance(shards, dict) or not 0 < len(shards) <= MAX_TENSORS:
            raise ConversionError(f"{at}: has no weight_map of 1 to {MAX_TENSORS:,} tensors")
        for file in shards.values():
            if not isinstance(file, str) or not is_plain(file) or "/" in file:
                raise ConversionError(f"{at}: {str(file)[:80]!r} is not the name of a file in this folder")
        if (count := len(set(shards.values()))) > _MAX_SHARDS:
            raise ConversionError(f"{at}: names {count:,} files, but at most {_MAX_SHARDS:,} are allowed")
        in_order = sorted(shards.items(), key=lambda pair: (pair[1], pair[0]))
        return {tensor: self.path / file for tensor, file in in_order}

    @cached_property
    def shapes(self) -> Mapping[str, Shape]:
        """Name of each tensor -> its shape, shard by shard; only headers are read.

        Raises:
            ConversionError: A file cannot be read, or does not match the index.
        """
        selected: dict[str, Shape] = {}
        count = 0
        for path in dict.fromkeys(self._places.values()):
            shapes = opened(path).shapes
            count += len(shapes)
            if count > MAX_TENSORS:
                raise ConversionError(f"{self.path}: its files hold more than {MAX_TENSORS:,} tensors")
            for name in (name for name, place in self._places.items() if place == path):
                if name not in shapes:
                    raise ConversionError(f"{path}: has no tensor {name}, which the index says it holds")
                selected[name] = shapes[name]
        return selected

    def tensor(self, name: str) -> Tensor:
        """Read a tensor as float16, in parts, to save memory."""
        shape = self.shapes[name]
        rows = max(1, _VALUES_AT_A_TIME // max(1, math.prod(shape[1:])))
        if not shape or shape[0] <= rows:
            return self._half(name, None)
        out = torch.empty(shape, dtype=torch.float16)
        for begin in range(0, shape[0], rows):
            out[begin : begin + rows] = self._half(name, slice(begin, begin + rows))
        return out

    def _half(self, name: str, rows: slice | None) -> Tensor:
        path = self._places[name]
        if self._open is None or self._open.path != path:
            self._open = None  # free it before the next one is opened
            self._open = opened(path)
        tensor = self._open.tensor(name) if rows is None else self._open.rows(name, rows)
        if tensor.dtype not in _DTYPES:
            kinds = ", ".join(str(kind).removeprefix("torch.") for kind in _DTYPES)
            raise ConversionError(f"{path}: {name} is of type {tensor.dtype}, but must be one of {kinds}")
        half = tensor.to(torch.float16, copy=True)
        if self._open.is_mapped:  # pages that were read would stay in memory
            self._open = None
        return half

    _open: TensorFile | None = None
