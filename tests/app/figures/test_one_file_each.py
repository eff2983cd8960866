"""A new view is one file and a new file format is one file: put into a copy of the app, both are there everywhere.

The copy runs in a process of its own: on the command line, and in Streamlit's test runner.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from transformer_core import Translator

ROOT = Path(__file__).resolve().parents[3]
TEXT = "The dog."
VIEW = '''"""The mean of the heads of a layer, as one map."""

from dataclasses import replace

from viz_app.figures.build.request import Request
from viz_app.figures.model.figure import Figure
from viz_app.figures.views.view import View

LABEL = {"en": "Mean of a layer", "ko": "한 층의 평균"}


def _make(r: Request) -> Figure:
    part = r.attention
    mean = part.maps.weights(r.kind)[r.layer].mean(axis=0)
    panel = replace(part.panel(r.layer, 0), weights=mean, head=None)
    place = {"where": f"layer{r.layer + 1}_mean", "view": {"name": "mean", "layer": r.layer}}
    return part.figure([panel], title=LABEL[r.language], caption=LABEL[r.language], alt=LABEL[r.language], **place)


VIEW = View(
    name="mean", order=25, label=LABEL, parameters=("kind", "layer", "unit", "step"), required=("layer",), make=_make
)
'''
RENDERER = '''"""Markdown: one table for each map."""

from viz_app.figures.model.figure import Figure, HeatmapFigure
from viz_app.figures.model.style import Style
from viz_app.figures.renderers.renderer import Renderer


def _render(figure: Figure, style: Style, dpi: int | None) -> bytes:
    lines = [f"# {figure.title}"]
    for panel in figure.panels:
        lines += ["", "| |" + "".join(f" {label} |" for label in panel.key_labels)]
        lines += ["|---|" + "---:|" * len(panel.key_labels)]
        for label, row in zip(panel.query_labels, panel.weights, strict=True):
            lines += [f"| {label} |" + "".join(f" {weight:.4f} |" for weight in row)]
    return ("\\n".join(lines) + "\\n").encode()


RENDERERS = Renderer(
    format="md", order=75, mime_type="text/markdown", kinds=(HeatmapFigure,), render=_render, label="Markdown"
)
'''
SCRIPT = """
import contextlib, io, json, sys
from streamlit.testing.v1 import AppTest
from transformer_core.cli import main
from viz_app.cli import PROGRAM

checkpoint, out, text = sys.argv[1:]

def status(*arguments):
    error = io.StringIO()
    with contextlib.redirect_stderr(error):
        return main(list(arguments), PROGRAM), error.getvalue()

def downloads(app):
    return [button.proto.label for button in app.get("download_button")]

common = ["export", f"--checkpoint={checkpoint}", f"--text={text}", "--view=mean", "--kind=cross"]
files = [f"--out={out}/mean.{ending}" for ending in ("json", "md", "pdf")]
found = {
    "made": status(*common, "--layer=2", *files),
    "incomplete": status(*common, f"--out={out}/other.json"),
    "refused": status(*common, "--layer=2", f"--out={out}/mean.gif"),
}
app = AppTest.from_file("viz_app/page_script.py", default_timeout=200)
app.query_params["text"], app.query_params["lang"] = text, "ko"
app.session_state["menu-download"] = True
app.run()
found["explorer"] = downloads(app)
app.switch_page("app_pages/figures.py").run()
choice = app.selectbox(key="figures-ko-view")
choice.set_value("mean").run()
found["options"] = list(choice.options)
found["errors"] = [each.value for each in [*app.exception, *app.error]]
found["pictures"] = len(app.get("image"))
found["figures"] = downloads(app)
found["command"] = app.code[-1].value
json.dump(found, sys.stdout)
"""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("out")


@pytest.fixture(scope="module")
def found(out: Path, random_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the copy with two files more does and shows."""
    copy = tmp_path_factory.mktemp("copy")
    for package in ("viz_app", "transformer_core"):
        shutil.copytree(ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", copy)
    for folder, name, text in (("views", "mean.py", VIEW), ("renderers", "markdown.py", RENDERER)):
        (copy / "viz_app" / "figures" / folder / name).write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(random_checkpoint), str(out), TEXT],
        cwd=copy,
        env={**os.environ, "HEADLIGHT_CHECKPOINT": str(random_checkpoint)},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    content: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return content


def test_a_new_view_is_drawn_by_the_command_line(found: dict[str, Any], out: Path, random_checkpoint: Path) -> None:
    assert found["made"][0] == 0, found["made"][1]
    expected = Translator.load(random_checkpoint).translate(TEXT).attention.cross[1].astype(np.float64).mean(axis=0)
    (panel,) = json.loads((out / "mean.json").read_text(encoding="utf-8"))["panels"]
    np.testing.assert_allclose(panel["weights"], expected, atol=1e-6)
    assert (out / "mean.pdf").read_bytes().startswith(b"%PDF")
    assert found["incomplete"][0] == 2 and "--layer" in found["incomplete"][1]
    assert found["refused"][0] == 2 and ".md" in found["refused"][1] and "mean" in found["refused"][1]


def test_a_new_view_stands_on_the_page_figures(found: dict[str, Any]) -> None:
    assert not found["errors"] and found["pictures"] == 1
    assert found["options"].index("한 층의 평균") == 2, "between the heads of a layer and all heads of a kind"
    assert "--view=mean" in found["command"]


def test_a_new_format_is_written_and_offered(found: dict[str, Any], out: Path) -> None:
    (panel,) = json.loads((out / "mean.json").read_text(encoding="utf-8"))["panels"]
    lines = (out / "mean.md").read_text(encoding="utf-8").splitlines()
    rows = [[float(cell) for cell in line.strip("|").split("|")[1:]] for line in lines[4:]]
    np.testing.assert_allclose(rows, panel["weights"], atol=5e-5)
    assert "Markdown" in found["explorer"] and "Markdown" in found["figures"]
    assert found["explorer"].index("CSV") < found["explorer"].index("Markdown") < found["explorer"].index("NPZ")
