"""The tools that keep the code in shape, as part of the test command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def tool(*arguments: str) -> None:
    done = subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(arguments)}:\n{done.stdout}{done.stderr}"


def test_ruff_finds_nothing() -> None:
    tool("ruff", "check", ".")


def test_the_code_is_formatted() -> None:
    tool("ruff", "format", "--check", ".")


def test_mypy_finds_nothing() -> None:
    tool("mypy")
