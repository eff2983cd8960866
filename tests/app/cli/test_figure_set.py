"""Sets of figures: names, what is skipped, what is refused, and the command that makes a set again."""

from __future__ import annotations

import html
import io
import json
import re
import shlex
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.app.conftest import SENTENCE
from tests.app.read_html import Page
from transformer_core.attention_maps import KINDS
from transformer_core.cli import main
from transformer_core.cli.arguments import UsageError
from transformer_core.storage.files import atomic_write_bytes
from transformer_core.translator import Translator
from viz_app.cli import PROGRAM
from viz_app.explorer_view import sentence_bundle
from viz_app.export import bundle, export_files, packing
from viz_app.export.figure_arguments import parse_heads

HOSTILE = "<script>alert('x')</script> ../../etc"
LINES = b"\xef\xbb\xbfThe bus.\r\n\n" + HOSTILE.encode() + b"\n\xff\xfe\n" + b"x" * 3000 + b"\n"
HEADS = "--heads=cross.2.3,encoder.1.1"
TWO = ["headlight_cross.2.3", "headlight_encoder.1.1"]
Run = Callable[..., int]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "lines.txt"
    path.write_text("The bus.", encoding="utf-8")
    return path


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the figures that are drawn from now on."""
    names: list[str] = []

    def counted(figure: object, *rest: object, **options: object) -> dict[str, bytes]:
        names.append(figure.name)  # type: ignore[attr-defined]
        return export_files(figure, *rest, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(sys.modules[bundle.__module__], "export_files", counted)
    return names


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_file_for_each_sentence_and_head_and_a_note_for_each_bad_line(
    run: Run, texts: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    texts.write_bytes(LINES)
    out = tmp_path / "figures"
    assert run("export", f"--texts={texts}", HEADS, "--format=json,csv", f"--out={out}") == 1, "two lines failed"
    stems = {f"{line}_{head}" for line in ("001", "003") for head in ("cross.2.3", "encoder.1.1")}
    endings = ("json/{}.json", "csv/{}.csv", "csv/{}.csv.json")
    files = contents(out)
    assert set(files) == {each.format(stem) for stem in stems for each in endings} | {"index.json", "index.html"}
    index = json.loads(files["index.json"])
    assert [note.partition(".")[0] for note in index["about"]] == ["4", "5"]
    assert "not UTF-8" in index["about"][0] and "at most" in index["about"][1]
    assert {m.split(":")[0] for m in caplog.messages if m.startswith("line ")} == {"line 4", "line 5"}
    assert [each["provenance"]["source"] for each in index["figures"]] == ["The bus."] * 2 + [HOSTILE] * 2
    assert json.loads(files["json/001_cross.2.3.json"])["provenance"]["heads"] == ["cross.2.3"]
    for data in files.values():
        assert str(tmp_path).encode() not in data
    document = Page(files["index.html"].decode())
    assert "script" not in document.names and HOSTILE in document.text
    assert all(re.match(r"data:image/png;base64,|(json|csv)/00\d_", address) for address in document.addresses)
    assert any(address.startswith("csv/00") for address in document.addresses)


def test_an_interrupted_set_continues_with_what_is_missing(
    run: Run, texts: Path, tmp_path: Path, drawn: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts.write_text("The bus.\nA car.\n", encoding="utf-8")
    out, command = tmp_path / "f", ("export", f"--texts={texts}", HEADS, "--format=json,csv")
    assert run(*command, f"--out={tmp_path / 'whole'}") == 0

    def stops(path: Path, data: bytes) -> None:
        atomic_write_bytes(path, data)
        if path.name.startswith("002_cross"):
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(packing, "atomic_write_bytes", stops)
        assert run(*command, f"--out={out}") == 1
    drawn.clear()
    assert run(*command, f"--out={out}") == 0
    assert drawn == [TWO[0], TWO[1], TWO[1]]  # of the second line: CSV of one head, both of the other
    drawn.clear()
    assert run(*command, f"--out={out}") == 0
    assert drawn == []
    assert contents(out) == contents(tmp_path / "whole")


def test_what_is_missing_is_drawn_and_what_was_made_otherwise_stays(
    run: Run, texts: Path, tmp_path: Path, drawn: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "f"
    command = ("export", f"--texts={texts}", HEADS, "--format=json", f"--out={out}")
    assert run(*command) == 0
    file = out / "json" / "001_cross.2.3.json"
    file.unlink()
    drawn.clear()
    assert run(*command) == 0
    assert drawn == TWO[:1]
    file.write_text("mine")
    assert run(*command) == 2, "somebody else's work is not overwritten"
    assert file.read_text() == "mine"
    assert run(*command, "--force") == 0
    assert file.read_text() != "mine"
    assert run(*command, "--language=ko") == 2
    assert "was made otherwise" in capsys.readouterr().err
    texts.write_text("A car.", encoding="utf-8")
    assert run(*command) == 2
    assert run(*command, "--force") == 0
    for place, options in ((tmp_path / "thesis", [HEADS]), (tmp_path / "a.zip", ["--set=sentence"])):
        mine = place if place.suffix else place / "thesis.tex"
        mine.parent.mkdir(exist_ok=True)
        mine.write_text("mine")
        assert run("export", f"--texts={texts}", *options, f"--out={place}") == 2
        assert mine.read_text() == "mine" and (place.suffix or list(contents(place)) == ["thesis.tex"])


def test_lists_of_heads() -> None:
    assert parse_heads("cross.2.1,encoder.1,cross.2.1", 2, 2) == [
        ("cross", 1, 0), ("encoder", 0, 0), ("encoder", 0, 1),
    ]  # fmt: skip
    assert len(parse_heads("all", 2, 2)) == 12
    assert len(parse_heads("decoder", 2, 2)) == 4
    with pytest.raises(UsageError, match="a layer from 1 to 2"):
        parse_heads("cross.2,cross.21", 2, 2)


def test_a_step_that_a_short_sentence_lacks_is_noted(run: Run, texts: Path, tmp_path: Path) -> None:
    out = tmp_path / "f"
    command = ("export", HEADS, "--step=999", f"--out={out}")
    assert run(*command, f"--texts={texts}") == 1
    assert "step is 999, but must be between 1 and" in json.loads((out / "index.json").read_text())["about"][0]
    assert run(*command, "--set=heads", "--text=The bus.") == 2, "a single sentence: the options are wrong"


def test_a_file_lists_the_figures_of_a_set(run: Run, texts: Path, tmp_path: Path) -> None:
    listed, out = tmp_path / "figures.txt", tmp_path / "figures.zip"
    listed.write_text("--view layer --layer 2\n--view lines --kind encoder --layer 1 --heads 1,3 --unit words\n")
    assert run("export", f"--texts={texts}", f"--set={listed}", "--format=json", f"--out={out}") == 0
    lines = ("--view=lines", "--kind=encoder", "--layer=1", "--heads=1,3", "--unit=words")
    assert run("export", "--text=The bus.", *lines, f"--out={tmp_path / 'a.json'}") == 0
    with zipfile.ZipFile(out) as archive:
        (name,) = (each for each in archive.namelist() if "lines" in each)
        assert archive.read(name) == (tmp_path / "a.json").read_bytes()
        assert "json/001_cross.2.json" in archive.namelist()


@pytest.mark.parametrize("line", ["--view=grid", "--view=head", "--layer=1 --head=1 --other-text=x", "--font-pt=4"])
def test_a_line_that_is_no_figure_of_the_sentence(
    line: str, run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = tmp_path / "figures.txt"
    listed.write_text(f"--view heads\n{line}\n")
    assert run("export", "--text=The bus.", f"--set={listed}", f"--out={tmp_path / 'f'}") == 2
    assert "--set: line 2" in capsys.readouterr().err
    assert not (tmp_path / "f").exists()


def test_the_zip_of_a_sentence_is_made_again_by_the_command_in_it(
    run: Run, random_checkpoint: Path, tmp_path: Path
) -> None:
    out = tmp_path / "private-name.zip"
    place = ["--kind=decoder", "--layer=2", "--head=3", "--unit=words", "--language=ko", "--beam=2"]
    style = ["--preset=acl-column", "--format=csv,npz"]
    assert run("export", "--set=sentence", f"--text={SENTENCE}", *place, *style, f"--out={out}") == 0
    maps = Translator.load(random_checkpoint).translate(SENTENCE, beam=2).attention.merged_to_words()
    with zipfile.ZipFile(out) as archive:
        page = html.unescape(archive.read("index.html").decode())
        names, index = set(archive.namelist()), json.loads(archive.read("index.json"))
        for kind in KINDS:
            expected = getattr(maps, kind)
            with np.load(io.BytesIO(archive.read(f"npz/headlight_{kind}_all_words.npz"))) as arrays:
                np.testing.assert_allclose(arrays["weights"].reshape(expected.shape), expected, atol=1e-6)
    assert {f"{format}/headlight_{name}.{format}" for format in ("csv", "npz") for name in ("flow", "beam")} <= names
    assert not [name for name in names if name.startswith("csv/") and "_all" in name]
    assert [len(each["files"]) for each in index["figures"]] == [3, 1, 1, 1, 3, 3]  # a CSV has its record beside it
    assert "private-name" not in page
    (command,) = re.findall(r"python -m viz_app (export .* --set=sentence .*\.zip)", page)
    words = shlex.split(command)
    assert words[-1] == f"--out={sentence_bundle.FILE_NAME}"
    assert main([*words[:-1], f"--out={tmp_path / 'again.zip'}"], PROGRAM) == 0
    assert (tmp_path / "again.zip").read_bytes() == out.read_bytes()


def test_numbers_of_a_long_sentence_are_left_out_and_the_index_says_so(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sentence_bundle, "MAX_WEIGHTS", 100)
    out = tmp_path / "f"
    assert (
        run("export", "--set=sentence", "--format=svg,npz", f"--text={SENTENCE}", "--target=Ja.", f"--out={out}") == 0
    )
    files = contents(out)
    assert "more than 100 weights" in files["index.html"].decode()
    assert len([name for name in files if name.startswith("npz/")]) == 1  # of the head that looks, without a search
    assert len([name for name in files if name.startswith("svg/")]) == 1 + len(KINDS)


def test_figures_of_the_paper_are_made_again_by_their_command(run: Run, tmp_path: Path) -> None:
    first, again = tmp_path / "first", tmp_path / "again"
    assert run("export", "--set=paper", "--format=json", "--language=ko", f"--out={first}") == 0
    files = contents(first)
    assert len(files) == 2 + 5
    provenance = json.loads(files["json/headlight_paper_figure3_verb.json"])["provenance"]
    words = shlex.split(provenance["command"])
    assert words[3] == "export" and words[-1] == "--out=paper" and "--preset=acl-page" in words
    assert main([*words[3:-1], f"--out={again}"], PROGRAM) == 0
    assert contents(again) == files
