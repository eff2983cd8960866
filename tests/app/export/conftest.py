"""A place to run commands in: the folder in which the random checkpoint lies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from transformer_core.cli import main
from viz_app.__main__ import PROGRAM
from viz_app.export.order import Reader

SENTENCE = "The house was built a hundred years ago."
OTHER = "She is waiting for the bus."


@pytest.fixture(scope="session")
def reader() -> Reader:
    return Reader()


@pytest.fixture
def at_checkpoint(random_checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The checkpoint's name, from where the test now stands."""
    monkeypatch.chdir(random_checkpoint.parent)
    return random_checkpoint.name


@pytest.fixture
def run(at_checkpoint: str) -> Callable[..., int]:
    """Run a command of the app's command line with the random checkpoint."""

    def command(name: str, *arguments: object) -> int:
        return main([name, f"--checkpoint={at_checkpoint}", *map(str, arguments)], PROGRAM)

    return command
