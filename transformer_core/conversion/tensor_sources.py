"""Readers of untrusted tensor files, without running code: safetensors, `pytorch_model.bin`."""

from __future__ import annotations

import io
import pickle
import pickletools
import re
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from transformer_core.storage.files import open_regular, printable, problem_of
from transformer_core.storage.tensor_files import check_header

MAX_SHARD_BYTES = 50_000_000_000
MAX_TENSORS = 100_000
_MAX_VALUES = 2**34  # of a tensor
_MAX_PICKLE_BYTES = 25_000_000  # of the names and shapes of MAX_TENSORS
_MAX_OPCODES = 5_000_000  # of the same; each costs a microsecond and may make an object
_OLD_PICKLES = 5  # before the tensors of a file that is no zip
_DAMAGE = (OSError, RuntimeError, ValueError, LookupError, EOFError, AttributeError, TypeError, MemoryError)
_DAMAGE_OF_ZIP = (zipfile.BadZipFile, zlib.error)
_LONGEST_MESSAGE = 1_000
_TENSOR_PARTS = re.compile(
    r"collections OrderedDict|torch\._utils _rebuild_(tensor_v2|parameter)|torch (\w+Storage|(b?float|u?int)\d+|bool)"
)

Shape = tuple[int, ...]


class ConversionError(ValueError):
    """Model that cannot be converted; the message names the recognised family and the problem."""

    def __init__(self, message: str) -> None:
        super().__init__(printable(message[:_LONGEST_MESSAGE]))


class TensorFile:
    """File of tensors, read lazily.

    Attributes:
        path: The file.
        shapes: Name of each tensor -> its shape.
        is_mapped: Whether the file is mapped into memory, so that opening it again is free.
    """

    path: Path
    shapes: Mapping[str, Shape]
    is_mapped = False

    def tensor(self, name: str) -> Tensor:
        """Read a tensor."""
        raise NotImplementedError

    def rows(self, name: str, rows: slice) -> Tensor:
        """Read some rows of a tensor."""
        return self.tensor(name)[rows]


class _Safetensors(TensorFile):
    is_mapped = True

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            check_header(path, MAX_SHARD_BYTES)
            self._file: Any = cast(Any, safe_open)(path, framework="pt")
            self._file.__enter__()
            names = list(self._file.keys())
            self.shapes = {name: tuple(self._file.get_slice(name).get_shape()) for name in names}
        except (OSError, RuntimeError, SafetensorError) as error:
            raise ConversionError(f"{path}: cannot be read: {problem_of(error)}") from error

    def tensor(self, name: str) -> Tensor:
        tensor: Tensor = self._file.get_tensor(name)
        return tensor

    def rows(self, name: str, rows: slice) -> Tensor:
        tensor: Tensor = self._file.get_slice(name)[rows]
        return tensor


class _Pickled(TensorFile):
    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            # Only files in zip format can be mapped into memory; older ones are read whole.
            self.is_mapped = zipfile.is_zipfile(path)
            with open_regular(path, MAX_SHARD_BYTES) as file:
                if self.is_mapped:
                    _check_zip(path)
                else:
                    _check_pickles(file.read(_MAX_PICKLE_BYTES), _OLD_PICKLES)
            loaded = torch.load(path, map_location="cpu", weights_only=True, mmap=self.is_mapped)
        except pickle.UnpicklingError as error:
            raise ConversionError(
                f"{path}: holds more than tensors (code that pickle would run), so it is not read; "
                "save the model as safetensors first"
            ) from error
        except (*_DAMAGE, *_DAMAGE_OF_ZIP) as error:
            reason = (str(error) or type(error).__name__).splitlines()[0][:200]
            raise ConversionError(f"{path}: cannot be read: {reason}") from error
        if not isinstance(loaded, dict):
            raise ConversionError(f"{path}: holds no tensors by name")
        self._tensors: dict[str, Tensor] = {}
        for name, value in loaded.items():
            if not isinstance(name, str) or not isinstance(value, Tensor) or value.is_sparse or value.is_quantized:
                raise ConversionError(f"{path}: {str(name)[:100]!r} is no plain tensor")
            if value.numel() * value.element_size() > value.untyped_storage().nbytes():
                raise ConversionError(f"{path}: {name} has more numbers than the file holds")
            self._tensors[name] = value
        self.shapes = {name: tuple(value.shape) for name, value in self._tensors.items()}

    def tensor(self, name: str) -> Tensor:
        return self._tensors[name]


def _check_zip(path: Path) -> None:
    """Check the pickle that torch's own reader finds; others can see another archive in the same file."""
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            if entry.compress_type != zipfile.ZIP_STORED:
                raise ValueError(f"{entry.filename} is compressed, which torch never does")
    reader = cast(Any, torch)._C.PyTorchFileReader(str(path))
    if reader.get_record_size("data.pkl") > _MAX_PICKLE_BYTES:
        raise ValueError("data.pkl is too large")
    _check_pickles(reader.get_record("data.pkl"), 1)


def _check_pickles(data: bytes, count: int) -> None:
    """Raise UnpicklingError for pickles that make anything but tensors: torch allows calls that take all memory."""
    file, opcodes = io.BytesIO(data), 0
    for _ in range(count):
        for code, argument, _ in pickletools.genops(file):
            opcodes += 1
            if opcodes > _MAX_OPCODES:
                raise ValueError(f"its pickles have more than {_MAX_OPCODES:,} instructions")
            is_global = code.name in ("GLOBAL", "INST", "STACK_GLOBAL", "EXT1", "EXT2", "EXT4")
            if is_global and not (code.name == "GLOBAL" and _TENSOR_PARTS.fullmatch(str(argument))):
                raise pickle.UnpicklingError(str(argument))


def opened(path: Path) -> TensorFile:
    """Open a file of tensors by its suffix. Raises ConversionError if it cannot be read."""
    source = _Safetensors(path) if path.suffix == ".safetensors" else _Pickled(path)
    if len(source.shapes) > MAX_TENSORS:
        raise ConversionError(f"{path}: holds more than {MAX_TENSORS:,} tensors")
    for name, shape in source.shapes.items():
        size = 1
        for each in shape:
            size *= each
        if size > _MAX_VALUES:
            raise ConversionError(f"{path}: {name} has shape {shape}, which is too large")
    return source
