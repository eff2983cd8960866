"""`reproduce`: the figure of a file is made again, wherever its model is now."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.app.conftest import SENTENCE
from transformer_core.cli import main
from transformer_core.storage.manifest import Manifest
from viz_app.cli import PROGRAM
from viz_app.export import command, command_for
from viz_app.export.embedded_record import read_record
from viz_app.figures import VIEWS

ENDINGS = ("pdf", "svg", "png", "tex", "json", "csv", "npz")
# Spaces that a comment, an attribute or a line of its own must not lose.
SPACED = 'The  house\u00a0\u2028\u3000was\tbuilt <!-- %\\ "a" & 100 % --> ago.'
HEAD = ("--view=head", "--kind=cross", "--layer=2", "--head=3")
PLACE, STYLE = ("--layer=1", "--head=1"), ("--width-mm=90", "--letters=true", "--scale=cividis", "--theme=dark")
# Each format and kind of figure: view, formats, text, options. The masked map has its hatching drawn by itself.
FILES = [
    ("head", ENDINGS, f"{SPACED}\x1b[201~'", ("--kind=decoder", *PLACE, "--language=ko", *STYLE, "--dpi=60")),
    ("decoding", ("gif",), "The bus.", ("--target=Ja.", *PLACE, "--dpi=36")),
    ("lines", ("pdf",), SENTENCE, ("--kind=encoder", "--layer=1", "--heads=1,2", "--unit=words", *STYLE)),
    ("flow", ("gif", "csv"), "The bus.", ("--target=Ja.", "--word=2", "--against=a", "--unfold=true", "--dpi=36")),
    ("flow", ("tex", "npz"), SENTENCE, ("--word=1", *STYLE)),
    ("beam", ("svg",), SENTENCE, ("--beam=3", *STYLE)),
    ("beam", ("json",), "The bus.", ("--beam=2", "--prefix=\u2581The")),
    (
        "compare",
        ("svg",),
        SENTENCE,
        (*PLACE, "--other-text=She waits.", "--name=one $x", "--aligned=true", *STYLE),
    ),
]


@pytest.fixture
def moved(random_checkpoint: Path, tmp_path: Path) -> Path:
    """The model of the files, under another name in another place."""
    return Path(shutil.copytree(random_checkpoint, tmp_path / "models" / "renamed"))


def reproduce(path: Path, *options: object) -> int:
    return main(["reproduce", str(path), *map(str, options)], PROGRAM)


def last_line(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    data: dict[str, object] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return data


def test_every_file_is_equal_though_file_and_model_have_moved(
    run: Callable[..., int], tmp_path: Path, moved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = tmp_path / "private-name"
    written.mkdir()
    files = []
    for number, (view, endings, text, options) in enumerate(FILES):
        outs = [written / f"private-name-{number}.{ending}" for ending in endings]
        command = ("export", f"--view={view}", f"--text={text}", *options, *(f"--out={out}" for out in outs))
        assert run(*command) == 0, command
        files += outs
    before = {path: path.read_bytes() for path in written.iterdir()}
    for out in files:
        record = out.with_name(f"{out.name}.json") if out.suffix == ".csv" else out
        command = read_record(before[record], out.suffix[1:])["command"]
        assert ("--width-mm=90.0" in command) == (out.suffix in (".pdf", ".svg", ".png", ".tex"))
        assert b"private-name" not in before[record]
    place = tmp_path / "place"
    written.rename(place)
    for out in files:
        capsys.readouterr()
        assert reproduce(place / out.name, "--checkpoint", moved) == 0, out
        assert last_line(capsys) == {"file": out.name, "equal": True, "differences": [], "byte": None}
    assert {written / path.name: path.read_bytes() for path in place.iterdir()} == before  # nothing is written


def test_two_models_are_found_by_their_hashes(
    run: Callable[..., int], tmp_path: Path, moved: Path, french_checkpoint: Path
) -> None:
    out = tmp_path / "a.json"
    other = ("--view=compare", "--layer=1", "--head=1", f"--other-checkpoint={french_checkpoint}")
    assert run("export", "--text=The bus.", *other, f"--out={out}") == 0
    elsewhere = shutil.copytree(french_checkpoint, tmp_path / "models" / "b")
    assert reproduce(out, "--checkpoint", elsewhere, moved) == 0
    assert reproduce(out, "--checkpoint", moved) == 2  # the second model is missing


def test_what_differs_is_named(
    run: Callable[..., int], tmp_path: Path, moved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "a.json"
    assert run("export", "--text=The bus.", *HEAD, f"--out={out}") == 0
    data = out.read_bytes()
    changed = data.replace(b'"version": "', b'"version": "9')
    out.write_bytes(changed)
    assert reproduce(out, "--checkpoint", moved) == 1
    result = last_line(capsys)
    assert result["differences"] == ["version"] and not result["equal"]
    assert result["byte"] == next(at for at, pair in enumerate(zip(data, changed, strict=False)) if len({*pair}) > 1)
    out.write_bytes(data[:-20])  # a shorter file
    assert reproduce(out, "--checkpoint", moved) == 1
    assert last_line(capsys)["byte"] == len(data) - 20


def test_a_missing_model_is_named_with_its_hash(
    run: Callable[..., int], tmp_path: Path, moved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "a.tex"
    assert run("export", "--text=The bus.", *HEAD, f"--out={out}") == 0
    assert reproduce(out) == 2
    error = capsys.readouterr().err
    assert Manifest.read(moved).weights_hash in error and "--checkpoint" in error and moved.name not in error
    # The command itself fails where the folder is not, and says who finds it.
    assert main(["export", "--checkpoint=gone", "--text=a", "--out=a.pdf"], PROGRAM) == 2
    assert "reproduce FILE --checkpoint DIR" in capsys.readouterr().err


@given(st.lists(st.text() | st.text(alphabet="'\"\\$ \n\x1b0123;`()&|<>가é\x85"), max_size=4))
def test_words_of_a_command_come_back(values: list[str]) -> None:
    written = command._command("export", [("text", value) for value in values])
    assert command.command_words(written) == ["python", "-m", "viz_app", "export", *(f"--text={v}" for v in values)]


ROOT = Path(__file__).resolve().parents[3]

# Runs the program one day later: a file with the date in it would differ.
TOMORROW = """
import datetime, runpy, sys, time

now = time.time
time.time = lambda: now() + 86_400

class Tomorrow(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(time.time(), tz)
    today = now

datetime.datetime = Tomorrow
try: runpy.run_module('viz_app', run_name='__main__')
except SystemExit as end: assert not end.code, end.code
assert 'streamlit' not in sys.modules
"""


@pytest.mark.process
def test_a_process_of_its_own_makes_the_same_file_without_streamlit(
    run: Callable[..., int], tmp_path: Path, at_checkpoint: str
) -> None:
    out = tmp_path / "first.pdf"
    place = ["--view=lines", "--kind=encoder", "--layer=1", "--heads=1,2"]
    assert run("export", *place, f"--text={SENTENCE}", f"--out={out}") == 0
    words = shlex.split(str(read_record(out.read_bytes(), "pdf")["command"]))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    made = tmp_path / "again"
    made.mkdir()
    target = made / words[-1].removeprefix("--out=")
    command = [sys.executable, "-c", TOMORROW, *words[3:-1], f"--out={target}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert target.read_bytes() == out.read_bytes()


def test_a_figure_without_a_checkpoint_has_no_command() -> None:
    from viz_app.figures import own_maps

    weights = np.full((1, 1, 2, 2), 0.5, dtype=np.float32)
    assert command_for(VIEWS["layer"].draw(maps=own_maps(weights, ["a", "b"], ["c", "d"]), kind="own")) == ""
