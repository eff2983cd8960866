"""Workplace of the tests of the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TRAIN = ["--preset", "tiny", "--training.steps", "20", "--training.validate_every", "20"]


@dataclass(frozen=True)
class Workplace:
    """Results of the commands: text, prepared text, a training, a checkpoint."""

    pairs: Path
    valid: Path
    data: Path
    run: Path
    checkpoint: Path


@dataclass(frozen=True)
class Said:
    """Answer of a command."""

    status: int
    out: str
    err: str


Call = Callable[..., Said]


def one_line_error(said: Said, status: int = 2) -> str:
    """The error, after checking that it is one line and nothing else."""
    assert said.status == status, said
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert said.err.count("\n") == 1
    return said.err
