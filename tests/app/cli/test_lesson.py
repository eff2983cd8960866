"""The command lesson."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from tests.app.export.test_again import check_again, command_in
from viz_app.cli import PROGRAM
from viz_app.export.figure_arguments import style_from_options
from viz_app.figures import Style

STYLE = ["--width-mm=90", "--font-pt=7", "--caption=true", "--title=false", "--theme=dark", "--dpi=80"]
WAVES = ["--lesson=positions", "--scene=waves", "--with=part:cos,at:3.5", "--text=The  house\u2028was built."]
TOUR = ["--lesson=heads", "--scene=tour", "--with=at:1", "--scale=cividis", "--value-range=shared", "--letters=true"]
MATRIX = ["--lesson=positions", "--scene=clocks", "--with=k:5", "--value-range=-0.5,0.5", "--mapping=sqrt"]


@pytest.mark.parametrize(
    ("scene", "endings"),
    [
        (WAVES, ("pdf", "svg", "png", "csv", "json", "npz", "tex")),
        (TOUR, ("pdf", "csv", "json")),
        (MATRIX, ("svg", "png")),
        (["--lesson=decoding", "--scene=tree"], ("pdf", "json")),
        (["--lesson=decoding", "--scene=bleu", "--with=text:Ich%20habe%20kein%20Auto."], ("pdf", "json")),
    ],
    ids=("waves", "tour", "matrix", "tree", "bleu"),
)
def test_each_format_is_made_again(
    scene: list[str], endings: tuple[str, ...], run: Callable[..., int], tmp_path: Path
) -> None:
    outs = [tmp_path / f"private-name.{ending}" for ending in endings]
    style = STYLE if "png" in endings else STYLE[:-1]
    assert run("lesson", *scene, *style, "--language=ko", *(f"--out={out}" for out in outs)) == 0
    for out in outs:
        check_again(out, tmp_path)
        words = shlex.split(command_in(out))
        assert words[3] == "lesson" and "--language=ko" in words, out.suffix
        assert ("--width-mm=90.0" in words) == (out.suffix not in (".csv", ".json", ".npz"))


@pytest.mark.slow
def test_the_moving_waves_are_made_again(run: Callable[..., int], tmp_path: Path) -> None:
    out = tmp_path / "private-name.gif"
    assert run("lesson", *WAVES, "--width-mm=60", "--dpi=36", f"--out={out}") == 0
    check_again(out, tmp_path)
    with Image.open(out) as image:
        assert image.n_frames == 3 * 15 + 1  # type: ignore[attr-defined]


def test_a_command_takes_every_option_of_a_style() -> None:
    style = Style(preset="neurips", value_range=(-1.0, 2.5), rotation=45, legend=False, letters=True, theme="dark")
    flags = [f"--{name.replace('_', '-')}={_option_text(value)}" for name, value in style.as_dict().items()]
    options = PROGRAM.parser("lesson").options(
        ["--checkpoint=en-de", "--lesson=why", "--scene=crossover", "--out=a.pdf", *flags]
    )
    assert style_from_options(options) == style


def _option_text(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def test_a_file_tells_lesson_scene_and_settings(run: Callable[..., int], tmp_path: Path) -> None:
    out = tmp_path / "a.json"
    assert run("lesson", *WAVES, f"--out={out}") == 0
    content = json.loads(out.read_text(encoding="utf-8"))
    about = content["provenance"]
    assert (about["lesson"], about["scene"], about["settings"]) == ("positions", "waves", "at:3.5,part:cos")
    assert about["source"] == "The house was built." and about["checkpoint_sha256"]
    assert content["title"] and content["caption"] and content["alt"]
    assert content["cut"] == 3.5 and len(content["readings"]) == len(content["series"])
