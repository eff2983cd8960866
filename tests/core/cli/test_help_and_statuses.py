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


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_each_command_starts_without_torch(command: str) -> None:
    assert help_without_torch([command, "--help"]).startswith(f"usage: python -m transformer_core {command}")


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_teaches_by_example(command: str, call: Call) -> None:
    said = call(command, "--help")
    assert said.status == 0
    assert said.out.startswith(f"usage: python -m transformer_core {command}")
    assert f"Example:\n\n  python -m transformer_core {command}" in said.out


@pytest.mark.parametrize("command", ["train", "count"])
@pytest.mark.parametrize("given", [("--preset", "big"), ("--preset=big",), ("--preset", "tiny", "--preset=big")])
def test_help_of_options_comes_from_the_configuration_and_shows_the_presets_values(
    command: str, given: tuple[str, ...], call: Call
) -> None:
    said = call(command, *given, "--help")
    help_text = " ".join(said.out.split())
    assert "Width of every embedding and sub-layer output. (default: 1024)" in help_text
    assert "Steps over which the learning rate rises linearly. (default: 4000)" in help_text


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["fly"], "the commands are translate, evaluate"),
        (["translate"], "missing: --checkpoint"),
        (["translate", "--checkpoint", "nowhere"], "folder not found: nowhere"),
        (
            ["translate", "--checkpoint", "{checkpoint}", "--beam", "0"],
            "beam is 0, but must be between 1 and 1,000",
        ),
        (["translate", "--checkpoint", "{checkpoint}", "--beam", "x"], "--beam is 'x', but must be a whole number"),
        (["translate", "--checkpoint", "{checkpoint}", "--batch", "0"], "--batch is 0, but must be 1 or more"),
        (["translate", "--checkpoint", "{checkpoint}", "--device", "toaster"], "but must be one of auto, cpu"),
        (["translate", "--checkpoint", "{checkpoint}", "--threads", "-1"], "--threads is -1"),
        (["evaluate", "--checkpoint", "{checkpoint}", "--test", "no.tsv"], "file not found: no.tsv"),
        (["evaluate", "--checkpoint", "{checkpoint}", "--test", "{valid}", "--references", "0"], "--references is '0'"),
        (["evaluate", "--checkpoint", "{checkpoint}", "--test", "{valid}", "--greedy", "--beam", "4"], "--beam is 4"),
        (
            ["contrast", "--checkpoint", "{checkpoint}", "--test", "{valid}", "--form", "cats"],
            "one of lingeval, contracat",
        ),
        (["contrast", "--checkpoint", "{checkpoint}", "--test", "no.tsv"], "file not found: no.tsv"),
        (["prepare", "--out", "x"], "missing: --train"),
        (["prepare", "--train", "{pairs}", "--out", "{run}"], "is not empty"),
        (["prepare", "--train", "{pairs}", "--out", "x", "--careless-share", "2"], "must be from 0 to 1"),
        (["prepare", "--train", "{pairs}", "--out", "x", "--vocab-size", "9", "--tokenizer", "t"], "--vocab-size out"),
        (["train", "--data", "{data}"], "missing: --out"),
        (["train", "--out", "x"], "give either --data DIR"),
        (["train", "--out", "x", "--data", "{data}", "--train", "{pairs}"], "give either --data DIR"),
        (
            ["train", "--out", "x", "--data", "{data}", "--preset", "huge"],
            "must be one of base, big, en-de, small, tiny",
        ),
        (["train", "--out", "x", "--data", "{data}", "--training.step", "3"], "did you mean --training.steps?"),
        (["train", "--out", "x", "--data", "{data}", "--training.precision", "fp8"], "one of float32, bfloat16"),
        (["train", "--out", "x", "--data", "{data}", "--model.num_heads", "7"], "a divisor of d_model (512)"),
        (["train", "--out", "x", "--data", "{data}", "--model.vocab_size", "99"], "has 160"),
        (["train", "--out", "{run}", "--data", "{data}"], "is not empty; add --resume"),
        (["train", "--out", "{run}", "--resume", "--init-from", "{checkpoint}"], "give only one"),
        (["train", "--out", "{data}", "--resume"], "is not the folder of a training"),
        (["average", "{data}", "--out", "x"], "is not the folder of a training"),
        (["average", "{run}", "--out", "x", "--last", "0"], "--last is 0"),
        (["attention", "--checkpoint", "{checkpoint}", "--source", " ", "--out", "x.npz"], "--source is empty"),
        (["attention", "--checkpoint", "{checkpoint}", "--source", "a", "--out", "x.png"], "must end with .npz"),
        (["attention", "--checkpoint", "{checkpoint}", "--source", "a " * 2000, "--out", "x.npz"], "at most 1024"),
    ],
)
def test_unusable_arguments_give_one_line_and_status_2(
    arguments: list[str], told: str, made: Workplace, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = call(*(argument.format(**vars(made)) for argument in arguments))
    assert told in one_line_error(said)
    assert list(tmp_path.iterdir()) == []


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


def test_a_missing_package_is_named_with_the_way_out(
    made: Workplace, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
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
