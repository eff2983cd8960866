"""A head of a history as a file: the command in it makes it again, byte for byte, and wrong options get one line."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.app.export.test_again import check_again, command_in
from transformer_core.cli import main
from transformer_core.history.snapshots import History
from viz_app.cli import PROGRAM
from viz_app.export import command_for, file_bytes
from viz_app.figures import Style
from viz_app.lessons.small_models import HISTORIES
from viz_app.model_card.head_snapshot import HeadSnapshot, model_name
from viz_app.serving.models.registry import ROOT
from viz_app.text import texts

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
def test_each_format_is_made_again(tmp_path: Path) -> None:
    outs = [
        tmp_path / f"private-name.{ending}"
        for ending in ("pdf", "svg", "png", "tex", "html", "gif", "csv", "npz", "json")
    ]
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
    for place in ("en-fr/history", "en-fr/derived/history"):
        out = tmp_path / f"{len(made)}.json"
        assert run(f"--history={ROOT / 'checkpoints' / place}", f"--out={out}") == 0
        made.append(json.loads(out.read_text(encoding="utf-8")))
    assert made[0] == made[1] and made[0]["provenance"]["model"] == "en-fr"


def test_a_folder_without_a_history_gets_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["growth", f"--history={tmp_path}", f"--out={tmp_path / 'a.pdf'}"], PROGRAM) == 1
    assert capsys.readouterr().err.count("\n") == 1
