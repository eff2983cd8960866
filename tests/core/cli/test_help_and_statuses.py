"""Help that teaches; exit statuses and errors of one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.core.cli.workplace import ROOT, Call, Workplace, one_line_error
from transformer_core.cli import COMMANDS


def help_without_torch(arguments: list[str]) -> str:
    """The help, after checking that a process that shows it imports no torch."""
    code = "import sys; from transformer_core.cli import main; main(sys.argv[1:]); sys.exit('torch' in sys.modules)"
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"torch was imported: {done.stderr}"
    return done.stdout


def test_help_lists_every_command_and_starts_without_torch() -> None:
    shown = help_without_torch(["--help"])
    assert all(f"\n  {name} " in shown for name in COMMANDS)


def test_each_command_teaches_by_example(call: Call, subtests: pytest.Subtests) -> None:
    for command in COMMANDS:
        with subtests.test(command):
            said = call(*command.split(), "--help")
            assert said.status == 0
            assert said.out.startswith(f"usage: python -m transformer_core {command}")
            assert f"Example:\n\n  python -m transformer_core {command}" in said.out


@pytest.mark.parametrize("command", ["train", "count"])
@pytest.mark.parametrize("given", [("--preset", "big"), ("--preset=big",), ("--preset", "tiny", "--preset=big")])
def test_help_shows_the_values_of_the_preset(command: str, given: tuple[str, ...], call: Call) -> None:
    said = call(command, *given, "--help")
    help_text = " ".join(said.out.split())
    assert "Width of every embedding and sub-layer output. (default: 1024)" in help_text
    assert "Steps over which the learning rate rises linearly. (default: 4000)" in help_text


def test_a_damaged_checkpoint_gives_one_line_and_status_1(made: Workplace, call: Call, tmp_path: Path) -> None:
    for file in made.checkpoint.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "tokenizer.model").write_bytes(b"broken")
    error = one_line_error(call("translate", "--checkpoint", tmp_path), 1)
    assert "tokenizer.model: is damaged" in error


@pytest.mark.parametrize("how", ["option", "environment"])
def test_debug_shows_the_whole_trace(how: str, call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HEADLIGHT_DEBUG", "1" if how == "environment" else "")
    said = call("translate", "--checkpoint", tmp_path, *(["--debug"] if how == "option" else []))
    assert said.status == 1
    assert "Traceback" in said.err
    assert said.err.splitlines()[-1].startswith("error: ")


def test_missing_package_is_named_with_a_fix(made: Workplace, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)  # makes `import torch` fail
    error = one_line_error(call("translate", "--checkpoint", made.checkpoint), 1)
    assert "torch is not installed: python -m pip install -r requirements.txt" in error


def test_hyphen_and_underscore_mean_the_same(made: Workplace, call: Call) -> None:
    common = ["evaluate", "--checkpoint", made.checkpoint, "--test", made.valid, "--beam", "1"]
    assert call(*common, "--per_sentence").out.startswith("number\t")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell's pipe")
def test_a_reader_that_leaves_ends_it_quietly(made: Workplace) -> None:
    command = f"yes 'The man sees.' | head -n 3000 | {sys.executable} -m transformer_core translate --beam 1 --batch 2"
    done = subprocess.run(
        f"{command} --checkpoint {made.checkpoint} | head -n 1", shell=True, cwd=ROOT, capture_output=True, check=False
    )
    assert done.stdout.count(b"\n") == 1
    assert b"Traceback" not in done.stderr
