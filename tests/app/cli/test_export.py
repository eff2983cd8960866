"""The commands export and growth."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.app.export.test_again import check_again, command_in
from transformer_core.cli import main
from transformer_core.history.snapshots import History
from viz_app import figures
from viz_app.cli import PROGRAM
from viz_app.export import command_for, file_bytes, recorded
from viz_app.export.figure_arguments import style_from_options
from viz_app.figures import Style
from viz_app.lessons.small_models import HISTORIES
from viz_app.model_card.head_snapshot import HeadSnapshot, model_name
from viz_app.serving.models.registry import ROOT
from viz_app.text import texts

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
    import json

    for options, count in (((), 8), (("--layer=2",), 4), (("--layer=2", "--head=3"), 1)):
        out = tmp_path / f"{count}.json"
        assert run("export", TEXT, "--view=heads", *options, f"--out={out}") == 0
        assert len(json.loads(out.read_text(encoding="utf-8"))["panels"]) == count


FIGURES = {
    "export": (TEXT, *PLACE),
    "growth": (f"--history={HISTORIES / 'base'}",),
}


@pytest.mark.parametrize("command", FIGURES)
def test_warnings_go_to_the_log_and_strict_makes_them_fail(
    command: str, at_checkpoint: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    out = tmp_path / "a.pdf"
    model = [] if command == "growth" else [f"--checkpoint={at_checkpoint}"]
    arguments = [command, *model, *FIGURES[command], "--font-pt=4", f"--out={out}"]
    assert main([*arguments, "--strict"], PROGRAM) == 1
    assert not out.exists()
    assert any("smallest text" in message for message in caplog.messages)
    assert main(arguments, PROGRAM) == 0
    assert out.exists()


@pytest.mark.parametrize("command", [*FIGURES, "set"])
def test_a_file_that_is_there_is_kept(command: str, at_checkpoint: str, tmp_path: Path) -> None:
    out = tmp_path / ("a.zip" if command == "set" else "a.csv")
    out.write_text("mine")
    model = [] if command == "growth" else [f"--checkpoint={at_checkpoint}"]
    words = [command, *FIGURES[command]] if command in FIGURES else ["export", "--set=sentence", TEXT]
    assert main([*words, *model, f"--out={out}"], PROGRAM) == 2
    assert out.read_text() == "mine"


BASE = HISTORIES / "base"
NAME = BASE.relative_to(ROOT).as_posix()
STYLE = ["--width-mm=90", "--font-pt=7", "--theme=dark", "--dpi=60"]


@pytest.fixture
def at_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the commands in the files are to be run."""
    monkeypatch.chdir(ROOT)


def run(*options: object) -> int:
    return main(["growth", f"--history={BASE}", *map(str, options)], PROGRAM)


@pytest.mark.usefixtures("at_root")
def test_files_are_made_again(tmp_path: Path) -> None:
    outs = [tmp_path / f"private-name.{ending}" for ending in ("pdf", "gif", "csv")]
    place = ("--head=decoder.2.3", "--at=0", "--sentence=2", "--language=ko")
    assert run(*place, *STYLE, *(f"--out={out}" for out in outs)) == 0
    for out in outs:
        check_again(out, tmp_path)
        words = shlex.split(command_in(out))
        assert words[3] == "growth" and {f"--history={NAME}", "--head=decoder.2.3", "--sentence=2"} <= set(words)
        assert ("--at=0" in words) == (out.suffix != ".gif")
    with Image.open(tmp_path / "private-name.gif") as film:
        assert film.n_frames == len(History.load(BASE).steps)  # type: ignore[attr-defined]


def test_a_download_of_the_page_is_the_file_of_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    history = History.load(BASE)
    seen = HeadSnapshot(sentence=3, kind="cross", moment=4, layer=1, head=0)
    figure = seen.figure(history, model_name(BASE), texts("en"), NAME)
    assert figure is not None
    words = shlex.split(command_for(figure, format="svg"))
    monkeypatch.chdir(ROOT)
    out = tmp_path / "a.svg"
    assert main([*words[3:-1], f"--out={out}"], PROGRAM) == 0
    assert out.read_bytes() == file_bytes(figure, "svg", Style())


def test_without_options_it_is_the_best_aligner_at_the_end(tmp_path: Path) -> None:
    out, history = tmp_path / "a.json", History.load(BASE)
    assert run(f"--out={out}") == 0
    provenance = json.loads(out.read_text(encoding="utf-8"))["provenance"]
    assert (provenance["head"], provenance["updates"], provenance["sentence"]) == (
        HeadSnapshot.start(history).place,
        history.steps[-1],
        1,
    )
    assert provenance["model"] == "base"


def test_a_history_belongs_to_the_checkpoint_around_it(tmp_path: Path) -> None:
    assert model_name(tmp_path / "mine" / "history") == "mine"
    assert model_name(tmp_path / "mine" / "derived" / "history") == "mine"
    assert model_name(tmp_path / "history" / "base") == "base"


def test_the_place_of_a_history_in_older_commands_still_leads_to_it(tmp_path: Path) -> None:
    made: list[dict[str, Any]] = []
    for place in ("en-fr-small/history", "en-fr-small/derived/history"):
        out = tmp_path / f"{len(made)}.json"
        assert run(f"--history={ROOT / 'checkpoints' / place}", f"--out={out}") == 0
        made.append(json.loads(out.read_text(encoding="utf-8")))
    assert made[0] == made[1] and made[0]["provenance"]["model"] == "en-fr-small"


def test_a_folder_without_a_history_gets_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["growth", f"--history={tmp_path}", f"--out={tmp_path / 'a.pdf'}"], PROGRAM) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_a_command_takes_every_option_of_a_style() -> None:
    style = Style(preset="neurips", value_range=(-1.0, 2.5), rotation=45, legend=False, letters=True, theme="dark")
    flags = [f"--{name.replace('_', '-')}={_option_text(value)}" for name, value in style.as_dict().items()]
    options = PROGRAM.parser("export").options(["--checkpoint=en-de", "--text=a", "--out=a.pdf", *flags])
    assert style_from_options(options) == style


def _option_text(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
