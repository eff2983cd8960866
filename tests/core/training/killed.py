"""Processes that are killed while they train or write, for `test_killed.py`."""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable, Collection
from multiprocessing import get_context
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import torch

from tests.core.training.runs import SHORT, new_trainer
from transformer_core.data import Corpus
from transformer_core.storage.files import atomic_directory
from transformer_core.training.validation import ValidationSet

CONFIG = SHORT.replace(checkpoint_every=1, keep_checkpoints=2, steps=8)
VALIDATED = SHORT.replace(checkpoint_every=2, keep_checkpoints=1, steps=6, validate_every=1, patience=3)
LOSSES = [5.0, 4.0, 3.0, 6.0, 7.0, 8.0]  # of the steps 1 to 6

# What a program can do to files, as Python's audit events name it.
_FILE_EVENTS = ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir")


def started(target: Callable[..., None], *arguments: Any) -> ForkServerProcess:
    """A fresh process, quickly: torch is there already. It runs no page that a test of the app made `__main__`."""
    context: ForkServerContext = get_context("forkserver")
    # Every first optimizer of a process imports the compiler: once for all of them.
    context.set_forkserver_preload([__name__, "torch._dynamo"])
    process = context.Process(target=target, args=arguments)
    with patch.dict(sys.modules, {"__main__": ModuleType("__main__")}):
        process.start()
    return process


def die_at_event(number: int, folder: Path, events: Collection[str] = _FILE_EVENTS) -> None:
    """Kill this process before it does the given file operation inside the folder, counted from 1."""
    seen = 0

    def watch(event: str, given: tuple[Any, ...]) -> None:
        nonlocal seen
        if event not in events or not isinstance(given[0], str | os.PathLike):
            return
        # shutil.rmtree names files relative to the folder that it has open.
        inside = event in ("os.remove", "os.rmdir") and given[1] != -1
        if inside or str(folder) in os.fspath(given[0]):
            seen += 1
            if seen == number:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def train(data: Path, run: Path, noted: Path, event: int = 0, largest_file: int = 0) -> None:
    """Train or go on training, with dropout; notes each step after it was saved.

    Args:
        data: Prepared text.
        run: Folder of the run.
        noted: File that receives a line for each saved step.
        event: File operation in `run` before which the process is killed; 0 means none.
        largest_file: Bytes that fit into a file, as on a disk that is full; 0 means no limit.
    """
    torch.set_num_threads(1)
    if event:
        die_at_event(event, run)
    trainer = new_trainer(Corpus(data), run, CONFIG, dropout=0.3, resume=True)
    save = trainer._save

    def note() -> None:
        save()
        with noted.open("a") as file:
            file.write(f"{trainer.progress.step}\n")

    trainer._save = note  # type: ignore[method-assign]
    if largest_file:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
    trainer.train()


def validate(data: Path, run: Path, noted: Path, event: int) -> None:
    """Train or go on training with validation losses that are given, killed before a file operation."""
    torch.set_num_threads(1)
    die_at_event(event, run)
    trainer = new_trainer(Corpus(data), run, VALIDATED, dropout=0.3, resume=True)
    trainer.validation = [ValidationSet("valid", [("A", "B")])]
    trainer.validate = lambda: {"valid": {"nll": LOSSES[trainer.progress.step - 1]}}  # type: ignore[method-assign]
    trainer.train()


def replace(folder: Path, event: int) -> None:
    """Replace a folder's contents, and be killed on the way."""
    die_at_event(event, folder.parent)
    with atomic_directory(folder) as partial:
        (partial / "a").write_text("new")
        (partial / "b").write_text("new")
