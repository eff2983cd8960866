"""Commands that are killed at one rename, for `test_killed_writes.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from tests.core.training.killed import die_at_event, started
from transformer_core.cli import PROGRAM
from transformer_core.cli.checkpoint import derived, measurements
from transformer_core.cli.checkpoint.measurements import Builder
from transformer_core.storage.files import atomic_directory

NEW_CARD = b"# New\n"
NEW_SCORES = b'{"new": true}\n'
BUILDERS = {
    "card": Builder("", lambda inputs: {"README.md": NEW_CARD}, ("README.md",), beside=True),
    "scores": Builder("", lambda inputs: {"scores.json": NEW_SCORES}, ("scores.json",)),
}


def derive(folder: Path, result: str) -> None:
    """Run `derived` with a builder that computes nothing."""
    measurements.BUILDERS.clear()
    measurements.BUILDERS.update(BUILDERS)
    arguments = ["--checkpoint", str(folder), "--only", result, "--device", "cpu", "--threads", "1"]
    derived.run(PROGRAM.parser("derived").options(arguments))


def replace(folder: Path, name: str) -> None:
    """Replace a folder, as `average`, `convert`, `ship`, `history` and `export-model` do with --force."""
    with atomic_directory(folder / name) as partial:
        (partial / "new").touch()


def run(call: Any, *arguments: Any, rename: int = 0) -> int:
    """Call a function in a process that kills itself just before its n-th rename; returns its exit status."""
    process = started(_run, call, arguments, rename)
    process.join(60)
    return process.exitcode or 0


def _run(call: Any, arguments: tuple[Any, ...], rename: int) -> None:
    torch.set_num_threads(1)
    die_at_event(rename, Path("/"), ("os.rename",))  # os.replace too
    call(*arguments)
