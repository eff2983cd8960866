"""The command that stands in a file makes that file again, byte for byte."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.app.conftest import SENTENCE
from viz_app.export import command_for
from viz_app.export.embedded_record import read_record
from viz_app.figures import VIEWS

ROOT = Path(__file__).resolve().parents[3]
ENDINGS = ("pdf", "svg", "png", "tex", "json", "csv", "npz")
# Spaces that a comment, an attribute or a line of its own must not lose.
SPACED = 'The  house\u00a0\u2028\u3000was\tbuilt <!-- %\\ "a" & 100 % --> ago.'

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
