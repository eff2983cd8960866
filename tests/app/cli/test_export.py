"""The command export."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from transformer_core.cli import main
from viz_app import figures
from viz_app.cli import PROGRAM
from viz_app.export import recorded
from viz_app.export.figure_arguments import style_from_options
from viz_app.figures import Style

TEXT = "--text=The bus."
PLACE = ("--layer=1", "--head=1")


def test_files_that_are_there_stay_without_force(run: Callable[..., int], tmp_path: Path) -> None:
    out, beside = tmp_path / "a.csv", tmp_path / "a.csv.json"
    beside.write_text("mine")
    assert run("export", TEXT, *PLACE, f"--out={out}") == 2
    assert beside.read_text() == "mine"
    assert not out.exists()
    assert run("export", TEXT, *PLACE, f"--out={out}", "--force") == 0
    assert out.stat().st_size
    assert beside.read_text() != "mine"


def test_all_files_or_none(run: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = figures.export

    def breaks(figure: object, format: str, *rest: object, **options: object) -> bytes:
        if format == "json":
            raise OSError("disk full")
        return real(figure, format, *rest, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(recorded, "export", breaks)
    assert run("export", TEXT, *PLACE, f"--out={tmp_path / 'a.csv'}", f"--out={tmp_path / 'a.json'}") == 1
    assert not list(tmp_path.iterdir())


def test_heads_is_narrowed_by_layer_and_head(run: Callable[..., int], tmp_path: Path) -> None:
    """All heads, those of a layer, one: the same word."""

    for options, count in (((), 8), (("--layer=2",), 4), (("--layer=2", "--head=3"), 1)):
        out = tmp_path / f"{count}.json"
        assert run("export", TEXT, "--view=heads", *options, f"--out={out}") == 0
        assert len(json.loads(out.read_text(encoding="utf-8"))["panels"]) == count


FIGURES = {
    "export": (TEXT, *PLACE),
}


@pytest.mark.parametrize("command", FIGURES)
def test_warnings_go_to_the_log_and_strict_makes_them_fail(
    command: str, at_checkpoint: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    out = tmp_path / "a.pdf"
    arguments = [command, f"--checkpoint={at_checkpoint}", *FIGURES[command], "--font-pt=4", f"--out={out}"]
    assert main([*arguments, "--strict"], PROGRAM) == 1
    assert not out.exists()
    assert any("smallest text" in message for message in caplog.messages)
    assert main(arguments, PROGRAM) == 0
    assert out.exists()


@pytest.mark.parametrize("command", [*FIGURES, "set"])
def test_a_file_that_is_there_is_kept(command: str, at_checkpoint: str, tmp_path: Path) -> None:
    out = tmp_path / ("a.zip" if command == "set" else "a.csv")
    out.write_text("mine")
    words = [command, *FIGURES[command]] if command in FIGURES else ["export", "--set=sentence", TEXT]
    assert main([*words, f"--checkpoint={at_checkpoint}", f"--out={out}"], PROGRAM) == 2
    assert out.read_text() == "mine"


def test_a_command_takes_every_option_of_a_style() -> None:
    style = Style(preset="neurips", value_range=(-1.0, 2.5), rotation=45, legend=False, letters=True, theme="dark")
    flags = [f"--{name.replace('_', '-')}={_option_text(value)}" for name, value in style.as_dict().items()]
    options = PROGRAM.parser("export").options(["--checkpoint=en-de", "--text=a", "--out=a.pdf", *flags])
    assert style_from_options(options) == style


def _option_text(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
