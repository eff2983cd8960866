"""Refusals to open a model, and the room that it needs on the disk."""

from __future__ import annotations

import shutil
from pathlib import Path

SPARE_BYTES = 500_000_000  # of a disk that stay free


class OpenError(ValueError):
    """A model cannot be opened.

    Args:
        problem: Reason: a label `open_model.problem_...`.
        values: Values for the label, such as a file.
    """

    def __init__(self, problem: str, **values: str) -> None:
        super().__init__(f"{problem}: {values}")
        self.problem, self.values = problem, values


def check_room(folder: Path, needed: int) -> None:
    """Raise OpenError if a disk has too few free bytes."""
    free = shutil.disk_usage(folder).free - SPARE_BYTES
    if needed > free:
        raise OpenError("disk", needed=megabytes(needed), free=megabytes(max(0, free)))


def megabytes(count: int) -> str:
    """Return a number of bytes in megabytes, rounded up."""
    return f"{-(-count // 1_000_000):,}"
