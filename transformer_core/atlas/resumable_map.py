"""Resumable map of a function over items, in several processes.

A stage is a function of a model and an item, such as a few sentences. Each result is a file named by a hash of model,
function and item. So a result is never computed twice, and a stale one is never used. Results come in the order of the
items: with the same model, items and program the bytes do not depend on the number of workers.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from functools import cached_property, lru_cache
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from transformer_core import __version__
from transformer_core.progress import progress_bar
from transformer_core.storage.files import atomic_write_bytes, recover_interrupted_writes
from transformer_core.translator import Translator

Results = Mapping[str, npt.NDArray[Any]]
Stage = Callable[[Translator, Any], Results]
MAX_MAP_BYTES = 64 * 2**20  # of the attention maps of one sentence; a longer one is skipped
_WAITING = 2  # queued items for each worker


@dataclass(frozen=True, kw_only=True)
class ResumableMap:
    """Resumable map over items.

    Args:
        checkpoint: Folder of the model.
        weights_hash: Of the model.
        folder: Folder of intermediate results.
        device: Device of the model in every process.
        workers: Number of processes; 1 is this process.
    """

    checkpoint: Path
    weights_hash: str
    folder: Path
    device: str = "cpu"
    workers: int = 1

    def run(self, stage: Stage, items: Sequence[Any], unit: str) -> list[dict[str, npt.NDArray[Any]]]:
        """Return the results of all items, in order.

        Args:
            stage: A module-level function, so that other processes can import it.
            items: JSON values.
            unit: Name of an item in the progress bar.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        recover_interrupted_writes(self.folder, "*.npz")
        files = [self.folder / f"{self._key(stage, item)}.npz" for item in items]
        missing = [number for number, file in enumerate(files) if _read(file) is None]
        with progress_bar(unit=unit, total=len(items), done=len(items) - len(missing)) as bar:
            for _ in self._computed(stage, [(items[number], files[number]) for number in missing]):
                bar.update()
        return [_sure(file) for file in files]

    def clear(self) -> None:
        """Remove the results and end the processes."""
        if "_pool" in self.__dict__:
            self._pool.shutdown()
            del self.__dict__["_pool"]
        shutil.rmtree(self.folder, ignore_errors=True)

    @cached_property
    def _pool(self) -> ProcessPoolExecutor:
        """Processes shared by all stages, since each has to load PyTorch and the model."""
        return ProcessPoolExecutor(self.workers, mp_context=get_context("spawn"), initializer=_end_with_parent)

    def _key(self, stage: Stage, item: Any) -> str:
        record = [__version__, self.weights_hash, f"{stage.__module__}.{stage.__qualname__}", item]
        return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()

    def _computed(self, stage: Stage, work: Sequence[tuple[Any, Path]]) -> Iterator[None]:
        """Compute items; yield after each."""
        if min(self.workers, len(work)) <= 1:
            for item, file in work:
                _compute(self.checkpoint, self.device, stage, item, file)
                yield
            return
        waiting: set[Future[None]] = set()
        pending = iter(work)
        try:
            while True:
                for item, file in pending:
                    waiting.add(self._pool.submit(_compute, self.checkpoint, self.device, stage, item, file))
                    if len(waiting) >= self.workers * _WAITING:
                        break
                if not waiting:
                    return
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for each in done:
                    each.result()
                    yield
        finally:
            for each in waiting:
                each.cancel()


def _end_with_parent() -> None:
    """End this process when its parent is killed; otherwise it would wait forever."""
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@lru_cache(maxsize=2)
def model_of(checkpoint: Path, device: str) -> Translator:
    """Load a model once in each process."""
    translator = Translator.load(checkpoint, device)
    translator.most_map_bytes = MAX_MAP_BYTES
    return translator


def _compute(checkpoint: Path, device: str, stage: Stage, item: Any, file: Path) -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # sums in the same order in every process
    try:
        arrays = stage(model_of(checkpoint, device), item)
    finally:
        torch.set_num_threads(threads)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    atomic_write_bytes(file, buffer.getvalue())


def _read(file: Path) -> dict[str, npt.NDArray[Any]] | None:
    """Read a result; None if it is missing or damaged."""
    if not file.is_file():
        return None
    try:
        with np.load(file, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except Exception:  # zip, numpy and zlib raise errors of many kinds
        return None


def _sure(file: Path) -> dict[str, npt.NDArray[Any]]:
    arrays = _read(file)
    if arrays is None:
        raise OSError(f"{file} was removed or damaged while it was needed")
    return arrays


def joined(results: Sequence[Results], name: str) -> npt.NDArray[Any]:
    """Concatenate an array of all items."""
    return np.concatenate([each[name] for each in results])


def cut(items: Sequence[Any], size: int) -> list[list[Any]]:
    """Split items into groups of a size that does not depend on the number of workers."""
    return [list(items[start : start + size]) for start in range(0, len(items), size)]
