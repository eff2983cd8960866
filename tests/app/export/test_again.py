"""The command that stands in a file makes that file again, byte for byte."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pypdf
import pytest
from PIL import Image

from tests.app.conftest import OTHER, SENTENCE
from transformer_core.cli import main
from viz_app.cli import PROGRAM
from viz_app.export import command_for, file_bytes, make_provenance
from viz_app.export.figure_arguments import Wanted, figure_from_options, style_from_options
from viz_app.export.figure_request import ModelRunner, Sentence, run_figure
from viz_app.figures import PRESETS, VIEWS, FigureOptions, Style

ROOT = Path(__file__).resolve().parents[3]
PLACE: dict[str, Any] = {"layer": 1, "head": 2}
HOSTILE = "--out=/x '; rm -rf $(x) \"`\n<script>&"
ENDINGS = ("pdf", "svg", "png", "tex", "json", "csv", "npz")
# Spaces that a comment, an attribute or a line of its own must not lose.
SPACED = 'The  house\u00a0\u2028\u3000was\tbuilt <!-- %\\ "a" & 100 % --> ago.'
PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "head": [PLACE, {**PLACE, "kind": "decoder", "unit": "words", "step": 3}],
    "layer": [{"layer": 1, "kind": "encoder"}],
    "heads": [{}, {"kind": "decoder", "step": 2}],
    "all": [{"unit": "words"}],
    "lines": [{"layer": 0, "heads": (1, 3), "head": 1, "kind": "encoder", "query": 2}],
    "steps": [{**PLACE, "steps": (1, 3)}, PLACE],
    "decoding": [PLACE],
    "beam": [{}, {"pruned": False, "step": 2}],
    "compare": [{**PLACE, "other_head": 0}, {**PLACE, "names": ("one $x", ""), "aligned": True}],
}

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


def command_in(path: Path) -> str:
    """The command that a file's metadata holds."""
    data, ending = path.read_bytes(), path.suffix
    if ending == ".pdf":
        metadata = pypdf.PdfReader(io.BytesIO(data)).metadata
        assert metadata is not None
        content = json.loads(str(metadata["/Keywords"]))
    elif ending == ".svg":
        text = "".join(ElementTree.fromstring(data).itertext())
        start = text.index('{"', text.index("\n"))
        content = json.JSONDecoder().raw_decode(text[start:])[0]
    elif ending == ".png":
        with Image.open(path) as image:
            content = json.loads(str(image.text["Provenance"]))  # type: ignore[attr-defined]
    elif ending == ".npz":
        with np.load(path) as archive:
            content = json.loads(str(archive["provenance"]))
    elif ending == ".csv":
        content = json.loads(path.with_name(f"{path.name}.json").read_text(encoding="utf-8"))
    elif ending == ".tex":
        (line,) = (line for line in data.decode().split("\n") if line.startswith("% {"))
        content = json.loads(line[2:])
    elif ending == ".gif":
        with Image.open(path) as image:
            content = json.loads(image.info["comment"])
    else:
        content = json.loads(data)["provenance"]
    return str(content["command"])


def orders() -> list[Any]:
    assert set(PARAMETERS) == {name for name, view in VIEWS.items() if not view.of_parsers and not view.of_atlas}
    pairs = [(view, i, each) for view, all_of_it in PARAMETERS.items() for i, each in enumerate(all_of_it)]
    return [pytest.param(view, each, id=f"{view}{i}") for view, i, each in pairs]


@pytest.mark.parametrize(("view", "parameters"), orders())
def test_a_command_says_all_that_was_ordered(
    view: str, parameters: dict[str, Any], at_checkpoint: str, reader: ModelRunner
) -> None:
    other = Sentence(checkpoint=at_checkpoint, text=OTHER, target="Die Frau.") if "names" in parameters else None
    search: dict[str, Any] = {"beam": 2} if view == "beam" else {"target": "Das Haus."}
    sentence = Sentence(checkpoint=at_checkpoint, text=SENTENCE, **search)
    options = FigureOptions(view=view, language="ko", **parameters)
    style = Style(width_mm=70.5, value_range=(0.0, 0.25), rotation=45, title=False, letters=True, theme="dark")
    figure = run_figure(options, sentence, reader, other=other)
    again, style_again = parsed(command_for(figure, style))
    assert style_again == style
    assert (again.sentence, again.other, again.options.view, again.options.language) == (sentence, other, view, "ko")
    # What the command adds is what was the default.
    made = run_figure(again.options, again.sentence, reader, other=again.other)
    assert file_bytes(made, "json") == file_bytes(figure, "json")


def parsed(command: str) -> tuple[Wanted, Style]:
    words = shlex.split(command)
    assert words[:4] == ["python", "-m", "viz_app", "export"]
    options = PROGRAM.parser("export").options(words[4:])
    return figure_from_options(options), style_from_options(options)


def test_a_command_says_every_option_of_a_style(at_checkpoint: str, reader: ModelRunner) -> None:
    sentence = Sentence(checkpoint=at_checkpoint, text=HOSTILE, target=HOSTILE)
    figure = run_figure(FigureOptions(**PLACE), sentence, reader)
    ranges: list[Any] = [None, "shared", (0.0, 0.5)]
    for preset, value_range in product(["", *PRESETS], ranges):
        style = Style(preset=preset, value_range=value_range, mapping="sqrt", scale="grey", font_pt=7, caption=True)
        order, again = parsed(command_for(figure, style))
        assert again == style
        assert order.sentence == sentence


def check_again(out: Path, folder: Path) -> None:
    """Run the command in a file from the folder of the checkpoint; the result must be the file."""
    words = shlex.split(command_in(out))
    assert words[:3] == ["python", "-m", "viz_app"]
    name = words[-1].removeprefix("--out=")
    assert "/" not in name
    made = folder / name
    assert main([*words[3:-1], f"--out={made}"], PROGRAM) == 0
    assert made.read_bytes() == out.read_bytes()
    if out.suffix == ".csv":
        assert made.with_name(f"{name}.json").read_bytes() == out.with_name(f"{out.name}.json").read_bytes()
    assert str(folder).encode() not in out.read_bytes()
    assert out.stem.encode() not in out.read_bytes()


def test_a_process_of_its_own_makes_the_same_file_without_streamlit(
    run: Callable[..., int], tmp_path: Path, at_checkpoint: str
) -> None:
    out = tmp_path / "first.pdf"
    place = ["--view=lines", "--kind=encoder", "--layer=1", "--heads=1,2"]
    assert run("export", *place, f"--text={SENTENCE}", f"--out={out}") == 0
    words = shlex.split(command_in(out))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    made = tmp_path / "again"
    made.mkdir()
    target = made / words[-1].removeprefix("--out=")
    command = [sys.executable, "-c", TOMORROW, *words[3:-1], f"--out={target}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert target.read_bytes() == out.read_bytes()


def test_the_app_can_make_the_same_file(at_checkpoint: str, reader: ModelRunner, tmp_path: Path) -> None:
    """A page has a translation and a figure; what it writes is what the command writes."""
    translator = reader.translator(at_checkpoint)
    translation = translator.translate(SENTENCE)
    provenance = make_provenance(translator, translation)
    figure = VIEWS["head"].draw(maps=translation.attention, **PLACE, theme="dark", provenance=provenance)
    out = tmp_path / "again.svg"
    words = shlex.split(command_for(figure, Style(), format="svg"))
    assert main([*words[3:-1], f"--out={out}"], PROGRAM) == 0
    assert out.read_bytes() == file_bytes(figure, "svg")


def test_a_figure_without_a_checkpoint_has_no_command() -> None:
    from viz_app.figures import VIEWS, own_maps

    weights = np.full((1, 1, 2, 2), 0.5, dtype=np.float32)
    assert command_for(VIEWS["layer"].draw(maps=own_maps(weights, ["a", "b"], ["c", "d"]), kind="own")) == ""
