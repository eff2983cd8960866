"""Processes that hold the model and decode, so that decoding and drawing do not compete for one interpreter lock.

Each has its own weights. A process that ends, for example because the system kills it for memory, is replaced, and its
batch is decoded again. While none is ready, as right after the start, the server's own process decodes.
"""

from __future__ import annotations

import logging
import mmap
import os
import pickle
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from loky.process_executor import ProcessPoolExecutor

from transformer_core.storage.files import CheckpointError
from transformer_core.storage.temporary_folders import remove_leftovers, temporary_folder
from viz_app.serving.decoding.decoding_limits import MAX_BATCH_SIZE

if TYPE_CHECKING:
    from transformer_core.attention_maps import MapsTooLarge
    from transformer_core.text.tokenizer import Encoding
    from transformer_core.translator import Translator
    from viz_app.serving.decoding.decoded_batch import Decoded, DraftBytes, OnDraft

_TRIES = 3  # of a batch; one that ends three processes will end the next one, too
_POLL_SECONDS = 0.005  # a sentence that is given up leaves its batch this soon, and a draft is handed over
_MAX_MODELS = 3  # in a process
_PARENT_SECONDS = 2.0
_PLACE = "headlight-workers"  # kind of the temporary folders

_log = logging.getLogger(__name__)

Value = TypeVar("Value")


class WorkerLost(RuntimeError):
    """The decoding processes ended before a batch was done."""


class NoneReady(RuntimeError):
    """No process has the model, or all of them are busy."""


class ModelKey(NamedTuple):
    """Model of a process.

    Args:
        folder: Folder of its checkpoint.
        weights_hash: The model's identity.
        most_map_bytes: Limit of the translator.
        device: Where it decodes.
    """

    folder: str
    weights_hash: str
    most_map_bytes: int | None
    device: str = "cpu"


# --- in the server ----------------------------------------------------------------------------------------------------


class WorkerProcesses:
    """Pool of processes, each of which decodes one batch at a time.

    Args:
        count: Number of processes.
        threads: CPU threads of each.
        device: Where they decode, as torch names it.
    """

    def __init__(self, count: int, threads: int = 1, device: str = "cpu") -> None:
        self.device = device
        self._all = [_Process(threads) for _ in range(count)]
        self._idle = list(self._all)
        self._lock = threading.Lock()

    def start(self, key: ModelKey) -> None:
        """Let every process load a model; returns at once."""
        for each in self._all:
            each.prepare(key)

    def decode(
        self,
        key: ModelKey,
        sentences: Sequence[Encoding],
        beam: int,
        should_stop: Callable[[], bool],
        is_given_up: Callable[[int], bool],
        drafts: Collection[int] = (),
        on_draft: OnDraft | None = None,
    ) -> list[Decoded | MapsTooLarge | None]:
        """Run `viz_app.serving.decoding.decoded_batch.decode_together` in a process.

        Raises:
            NoneReady: No idle process has started or can start, or the checkpoint has been replaced or removed.
            WorkerLost: One process after the other ended.
            DecodingStopped: As there.
        """
        with self._idle_process() as process:
            for _ in range(_TRIES):
                process.flags.clear()
                try:
                    future = process.submit(partial(_decode, key, list(sentences), beam, drafts))
                    while True:
                        try:
                            return future.result(_POLL_SECONDS)
                        except TimeoutError:
                            process.flags.stopped = should_stop()
                            for number in range(len(sentences)):
                                process.flags.set_given_up(number, is_given_up(number))
                            for number in drafts:
                                if (draft := process.flags.take_draft(number)) and on_draft:
                                    on_draft(number, draft)
                except BrokenProcessPool:
                    _log.warning("a decoding process has ended; another one decodes its batch again")
                except OSError as error:  # none can start, as on a full disk
                    raise NoneReady from error
        raise WorkerLost(f"{_TRIES} processes ended before a batch of {len(sentences)} was decoded")

    @contextmanager
    def _idle_process(self) -> Iterator[_Process]:
        with self._lock:
            process = next((each for each in self._idle if each.is_ready), None)
            if process is None:
                raise NoneReady
            self._idle.remove(process)
        try:
            yield process
        finally:
            with self._lock:
                self._idle.append(process)

    @property
    def ready(self) -> int:
        """Number of processes that hold a model."""
        return sum(each.is_ready for each in self._all)

    def close(self) -> None:
        """End all processes."""
        for each in self._all:
            each.close()


class _Process:
    """One process. If it has ended, the next call starts another one."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._executor: ProcessPoolExecutor | None = None
        self._prepared: Future[None] | None = None
        self.flags: _Flags

    @property
    def is_ready(self) -> bool:
        return self._prepared is not None and self._prepared.done() and self._prepared.exception() is None

    def prepare(self, key: ModelKey) -> None:
        try:
            self._prepared = self.submit(partial(_load, key))
        except OSError as error:
            _log.warning("no decoding process can start, so the server decodes: %s", error)

    def submit(self, call: Callable[[], Value]) -> Future[Value]:
        """Call a function in the process; start a new one if there is none or it is known to have ended."""
        if self._executor is not None:
            try:
                submitted: Future[Value] = self._executor.submit(call)
                return submitted
            except BrokenProcessPool:
                self._executor.shutdown(wait=False, kill_workers=True)
        self.flags = _Flags.new()  # the system may have removed the folder of the one before, as it does with old ones
        self._executor = ProcessPoolExecutor(
            1,
            initializer=_begin,
            initargs=(self._threads, self.flags.path, os.getpid()),
            env={"OMP_NUM_THREADS": str(self._threads)},
        )
        submitted = self._executor.submit(call)
        return submitted

    def close(self) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=True, kill_workers=True)
            self.flags.remove()


class _Flags:
    """Bytes shared with a process while it decodes: whether to stop, which sentences are given up, and drafts."""

    _folder: tempfile.TemporaryDirectory[str] | None = None  # of the server

    def __init__(self, path: str) -> None:
        self.path = path
        with open(f"{path}/flags", "r+b") as file:
            self._bytes = mmap.mmap(file.fileno(), 1 + MAX_BATCH_SIZE)

    @classmethod
    def new(cls) -> _Flags:
        """Create the flags in a new folder; it is removed as others of its kind are, even if the server is killed."""
        remove_leftovers(_PLACE)
        folder = temporary_folder(_PLACE)
        with open(f"{folder.name}/flags", "wb") as file:
            file.write(bytes(1 + MAX_BATCH_SIZE))
        flags = cls(folder.name)
        flags._folder = folder
        return flags

    def clear(self) -> None:
        self._bytes[:] = bytes(len(self._bytes))
        for number in range(MAX_BATCH_SIZE):
            self.take_draft(number)

    def give_draft(self, number: int, draft: DraftBytes) -> None:
        """Replace the draft of a sentence, in one go; a draft that cannot be written is left out."""
        with suppress(OSError):  # a full disk; on Windows, while the server takes the one before
            with open(f"{self.path}/new", "wb") as file:
                pickle.dump(draft, file)
            os.replace(f"{self.path}/new", f"{self.path}/{number}")

    def take_draft(self, number: int) -> DraftBytes | None:
        """Return the newest draft of a sentence that has not been taken."""
        try:
            os.replace(f"{self.path}/{number}", f"{self.path}/taken")
        except (FileNotFoundError, PermissionError):  # none, or one that is being replaced, on Windows
            return None
        with open(f"{self.path}/taken", "rb") as file:
            draft: DraftBytes = pickle.load(file)
        return draft

    @property
    def stopped(self) -> bool:
        return bool(self._bytes[0])

    @stopped.setter
    def stopped(self, value: bool) -> None:
        self._bytes[0] = value

    def is_given_up(self, number: int) -> bool:
        return bool(self._bytes[1 + number])

    def set_given_up(self, number: int, value: bool) -> None:
        self._bytes[1 + number] = value

    def remove(self) -> None:
        self._bytes.close()
        if self._folder is not None:
            self._folder.cleanup()


# --- in a process -----------------------------------------------------------------------------------------------------

_here: dict[str, Any] = {}
_models: OrderedDict[ModelKey, Translator] = OrderedDict()


def _begin(threads: int, flags: str, server: int) -> None:
    import torch

    torch.set_num_threads(threads)
    _here["flags"] = _Flags(flags)
    threading.Thread(target=_end_with, args=(server,), daemon=True).start()


def _end_with(server: int) -> None:
    """End this process when the server was killed. Windows has no parent to poll, and ends it in another way."""
    while os.getppid() == server:
        time.sleep(_PARENT_SECONDS)
    os._exit(0)


def _load(key: ModelKey) -> None:
    from transformer_core.translator import Translator

    if key in _models:
        _models.move_to_end(key)
        return
    try:
        translator = Translator.load(key.folder, key.device)
    except (OSError, CheckpointError):  # the server still holds the model
        raise NoneReady from None
    if translator.checkpoint_hash != key.weights_hash:
        raise NoneReady
    translator.most_map_bytes = key.most_map_bytes
    _models[key] = translator
    if len(_models) > _MAX_MODELS:
        _models.popitem(last=False)


def _decode(
    key: ModelKey, sentences: list[Encoding], beam: int, drafts: Collection[int]
) -> list[Decoded | MapsTooLarge | None]:
    from viz_app.serving.decoding.decoded_batch import decode_together

    _load(key)
    flags: _Flags = _here["flags"]
    return decode_together(
        _models[key], sentences, beam, lambda: flags.stopped, flags.is_given_up, drafts, flags.give_draft
    )
