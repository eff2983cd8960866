"""The tools that keep the code in shape, as part of the test command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def tool(*arguments: str) -> None:
    run("-m", *arguments)


def run(*arguments: str) -> None:
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(arguments)}:\n{done.stdout}{done.stderr}"


def test_ruff_finds_nothing() -> None:
    tool("ruff", "check", ".")


def test_the_code_is_formatted() -> None:
    tool("ruff", "format", "--check", ".")


def test_imports_run_only_downward() -> None:
    """The contracts of pyproject.toml; the package cannot be run with -m."""
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    run("-c", code, "--no-cache")


def test_mypy_finds_nothing() -> None:
    tool("mypy")
