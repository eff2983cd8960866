"""Arguments that cannot be used, files that are there, warnings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from viz_app import figures
from viz_app.export import recorded

TEXT = "--text=The bus."
PLACE = ("--layer=1", "--head=1")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--out=a.pdf", *PLACE], "--text"),
        (["--out=a.pdf", "--text= ", *PLACE], "--text is empty"),
        (["--out=a.bmp", TEXT, *PLACE], ".pdf, .csv|.pdf, .svg"),
        (["--out=no/such/a.pdf", TEXT, *PLACE], "there is no folder"),
        (["--out=a.pdf", TEXT, "--layer=1"], "missing: --head"),
        (["--out=a.pdf", TEXT, "--layer=3", "--head=1"], "--layer is 3, but must be between 1 and 2"),
        (["--out=a.pdf", TEXT, "--layer=0", "--head=1"], "--layer is 0, but must be 1 or more"),
        (["--out=a.pdf", TEXT, "--layer=1", "--head=5"], "--head is 5, but must be between 1 and 4"),
        (["--out=a.pdf", TEXT, "--layer=1", "--head=x"], "--head is 'x', but must be a whole number"),
        (["--out=a.pdf", TEXT, "--view=lines", "--layer=1", "--heads=1,9"], "--head is 9"),
        (["--out=a.pdf", TEXT, "--view=lines", "--layer=1", "--heads=2,1"], "increasing numbers"),
        (["--out=a.pdf", TEXT, "--view=lines", *PLACE, "--query=99"], "--query is 99, but must be between 1 and"),
        (["--out=a.pdf", TEXT, "--view=heads", "--query=1"], "the view heads does not take it; it takes --kind"),
        (["--out=a.pdf", TEXT, "--view=all", "--kind=cross"], "the view all does not take it"),
        (["--out=a.pdf", TEXT, "--view=bush"], "but must be one of head, layer"),
        (["--out=a.pdf", TEXT, "--view=tree"], "this model is no parser"),
        (["--out=a.pdf", TEXT, "--view=tree", "--kind=cross"], "the view tree does not take it; it takes --layer"),
        (["--out=a.pdf", TEXT, *PLACE, "--step=99"], "step is 99, but must be between 1 and"),
        (["--out=a.pdf", TEXT, *PLACE, "--kind=all"], "--kind is 'all', but must be one of encoder, decoder, cross"),
        (["--out=a.pdf", TEXT, *PLACE, "--unit=letters"], "--unit"),
        (["--out=a.pdf", TEXT, *PLACE, "--language=de"], "--language is 'de', but must be one of en, ko"),
        (["--out=a.pdf", TEXT, *PLACE, "--width-mm=1"], "--width-mm is 1.0, but must be between 20 and 2000"),
        (["--out=a.pdf", TEXT, *PLACE, "--rotation=30"], "--rotation is 30"),
        (["--out=a.pdf", TEXT, *PLACE, "--value-range=1,0"], "--value-range"),
        (["--out=a.pdf", TEXT, *PLACE, "--value-range=much"], "--value-range is 'much'"),
        (["--out=a.pdf", TEXT, *PLACE, "--preset=acl"], "acl-column"),
        (["--out=a.pdf", TEXT, *PLACE, "--theme=blue"], "--theme"),
        (["--out=a.pdf", TEXT, *PLACE, "--title=maybe"], "--title is 'maybe', but must be true or false"),
        (["--out=a.pdf", TEXT, *PLACE, "--dpi=100"], "--dpi: only png and gif"),
        (["--out=a.png", TEXT, *PLACE, "--dpi=1"], "--dpi is 1, but must be between 36 and 1200"),
        (["--out=a.gif", TEXT, *PLACE], "the view head can only be .pdf"),
        (["--out=a.pdf", TEXT, *PLACE, "--view=decoding"], "the view decoding can only be .gif, .csv, .npz, .json"),
        (["--out=a.tex", TEXT, "--view=beam"], "the view beam can only be .pdf, .svg, .png, .html, .csv, .npz, .json"),
        (["--out=a.pdf", TEXT, "--view=beam", "--target=Der Bus."], "--target"),
        (["--out=a.pdf", TEXT, *PLACE, "--target=Der Bus.", "--beam=2"], "omit them with --target"),
        (["--out=a.pdf", TEXT, *PLACE, "--beam=0"], "beam is 0"),
        (["--out=a.pdf", "--out=a.pdf", TEXT, *PLACE], "named twice"),
        (["--out=a.pdf", TEXT, *PLACE, "--format=pdf"], "--format is only for --texts"),
        (["--out=a.pdf", "--text=" + "x" * 3000, *PLACE], "at most"),
        (["--out=a.pdf", TEXT, *PLACE, "--colour=red"], "unknown option --colour"),
    ],
)  # fmt: skip
def test_bad_arguments_get_one_line_that_says_what_is_allowed(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], arguments: list[str], told: str, at_checkpoint: str
) -> None:
    assert run("export", *arguments) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert all(part in lines[0] for part in told.split("|")) or told.split("|")[-1] in lines[0]
    assert not list(Path().glob("a.*"))


def test_a_checkpoint_that_is_not_there_is_told(run: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("export", TEXT, *PLACE, "--out=a.pdf", "--checkpoint=nowhere") == 2
    assert "--checkpoint: folder not found: nowhere" in capsys.readouterr().err


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


def test_warnings_go_to_the_log_and_strict_makes_them_fail(
    run: Callable[..., int], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    out = tmp_path / "a.pdf"
    small = ("--font-pt=4", f"--out={out}")
    assert run("export", TEXT, *PLACE, *small, "--strict") == 1
    assert not out.exists()
    assert any("smallest text" in message for message in caplog.messages)
    assert run("export", TEXT, *PLACE, *small) == 0
    assert out.exists()


def test_heads_is_narrowed_by_layer_and_head(run: Callable[..., int], tmp_path: Path) -> None:
    """All heads, those of a layer, one: the same word."""
    import json

    for options, count in (((), 8), (("--layer=2",), 4), (("--layer=2", "--head=3"), 1)):
        out = tmp_path / f"{count}.json"
        assert run("export", TEXT, "--view=heads", *options, f"--out={out}") == 0
        assert len(json.loads(out.read_text(encoding="utf-8"))["panels"]) == count
