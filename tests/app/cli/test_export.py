"""The command export."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from viz_app import figures
from viz_app.export import recorded

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
    """All heads, one layer's, one: the same word."""

    for options, count in (((), 8), (("--layer=2",), 4), (("--layer=2", "--head=3"), 1)):
        out = tmp_path / f"{count}.json"
        assert run("export", TEXT, "--view=heads", *options, f"--out={out}") == 0
        assert len(json.loads(out.read_text(encoding="utf-8"))["panels"]) == count


def test_warnings_go_to_the_log_and_strict_makes_them_fail(
    run: Callable[..., int], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    out = tmp_path / "a.pdf"
    arguments = ["export", TEXT, *PLACE, "--font-pt=4", f"--out={out}"]
    assert run(*arguments, "--strict") == 1
    assert not out.exists()
    assert any("smallest text" in message for message in caplog.messages)
    assert run(*arguments) == 0
    assert out.exists()
