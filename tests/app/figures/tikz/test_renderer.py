from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.patches import PathPatch
from matplotlib.text import Text

from tests.app.figures.samples import flows
from transformer_core.attention_maps import AttentionMaps
from viz_app.figures import VIEWS, CurvesFigure, Figure, MatrixFigure, Series, Style, export
from viz_app.figures.mpl import renderer
from viz_app.figures.tikz.parts import tex


def many_curves() -> CurvesFigure:
    """Six with long labels, read at a cut: more than fit in one line."""
    x = np.arange(30)
    series = [Series(x=x, y=np.sin(x / n), label=f"PE(pos, {10 * n})") for n in range(1, 7)]
    return CurvesFigure(series=series, x_title="pos", y_title="sin", cut=3.5)


def figures(maps: AttentionMaps) -> dict[str, Figure]:
    x = np.arange(1, 30)
    return {
        "head": VIEWS["head"].draw(maps=maps, kind="decoder"),
        "layer": VIEWS["layer"].draw(maps=maps, kind="cross"),
        "compare": VIEWS["compare"].draw(maps=maps, kind="cross", other_head=1),
        "steps": VIEWS["steps"].draw(maps=maps, kind="cross"),
        "curves": CurvesFigure(
            series=[Series(x=x, y=1 / x, label="50 % & more")], x_title="x_1", y_title="y", y_log=True
        ),
        "cut": many_curves(),
        "flow": VIEWS["flow"].draw(flows=flows(maps), word=2),
        "unfolded": VIEWS["flow"].draw(flows=flows(maps), word=2, unfold=True),
        "matrix": MatrixFigure(values=np.eye(4), row_title="r", column_title="c", scale_title="s"),
    }


def test_the_numbers_of_a_heatmap_are_in_the_file(maps: AttentionMaps) -> None:
    text = export(VIEWS["head"].draw(maps=maps, kind="decoder", layer=1, head=2), "tex").decode()
    cells = re.findall(r"^(\d+) (\d+) (\S+)$", text, flags=re.MULTILINE)
    assert len(cells) == 64
    for column, row, value in cells:
        expected = maps.decoder[1, 2, int(row), int(column)]
        assert (value == "nan") == (int(column) > int(row))
        assert value == "nan" or np.float32(value) == expected


def test_a_token_is_never_a_command() -> None:
    assert tex(r"\input{x}%$&#_^~") == (r"\textbackslash{}input\{x\}\%\$\&\#\_\textasciicircum{}\textasciitilde{}")
    assert tex("<s>") == r"\textless{}s\textgreater{}"
    assert tex("한국어 ß") == "한국어 ß"


@pytest.mark.parametrize("options", [{}, {"word": 2}, {"word": 2, "unfold": True, "theme": "dark"}])
def test_a_flow_is_drawn_as_in_print(maps: AttentionMaps, options: dict[str, Any]) -> None:
    figure = VIEWS["flow"].draw(flows=flows(maps), **options)
    lines = export(figure, "tex").decode().splitlines()
    with renderer.drawing_settings():
        axes = renderer.draw(figure, Style(), "pdf", 72).axes
    rgb = r"\{rgb,255:red,(\d+);green,(\d+);blue,(\d+)\}"
    curves = [re.match(rf"\\draw\[draw={rgb}, line width=([\d.]+)bp\] (.*controls.*);", line) for line in lines]
    printed = [each for each in axes.patches if isinstance(each, PathPatch)]
    assert len(printed) == len([each for each in curves if each]) > 10
    for patch, curve in zip(printed, filter(None, curves), strict=True):
        *color, width, path = curve.groups()
        points = re.findall(r"\((-?[\d.]+),(-?[\d.]+)\)", path)
        vertices = np.asarray(patch.get_path().vertices)
        np.testing.assert_allclose(np.array(points, dtype=float), vertices, atol=6e-4)
        assert float(width) == pytest.approx(patch.get_linewidth(), abs=6e-4)
        assert [int(part) for part in color] == [round(255 * part) for part in to_rgb(patch.get_edgecolor())]
    nodes = [re.match(r"\\node\[.*\] at \((.*),(.*)\) \{(.*)\};", line) for line in lines]
    texts = [each for each in axes.texts or axes.findobj(Text) if each.get_text()]
    assert [(tex(each.get_text()), *(f"{at:.3f}" for at in each.get_position())) for each in texts] == [
        (node[3], node[1], node[2]) for node in nodes if node
    ]


@pytest.mark.parametrize(("width", "columns"), [(60, 1), (100, 2), (400, 6)])
def test_a_legend_is_as_wide_as_its_axes_at_most(width: float, columns: int) -> None:
    text = export(many_curves(), "tex", Style(width_mm=width)).decode()
    assert f"legend columns={columns}" in text
    assert text.count("\\addlegendentry") == 6


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("lualatex") is None, reason="no LuaLaTeX on this machine")
@pytest.mark.parametrize(
    "name", ["head", "layer", "compare", "steps", "curves", "cut", "matrix", "flow", "unfolded", "hostile"]
)
@pytest.mark.process
def test_lualatex_compiles_it(maps: AttentionMaps, hostile: AttentionMaps, name: str, tmp_path: Path) -> None:
    import pypdf

    made: Any = {**figures(maps), "hostile": VIEWS["head"].draw(maps=hostile, kind="cross")}[name]
    (tmp_path / "figure.tex").write_bytes(export(made, "tex", Style(letters=True)))
    done = subprocess.run(
        ["lualatex", "-interaction=nonstopmode", "-halt-on-error", "--no-shell-escape", "figure.tex"],
        cwd=tmp_path,
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:].decode(errors="replace")
    text = pypdf.PdfReader(tmp_path / "figure.pdf").pages[0].extract_text()
    assert ("biss" in text) if name in ("head", "layer") else text
