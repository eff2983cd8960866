"""Batches: names, what is skipped, what is refused, what is told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.app.read_html import Document
from transformer_core.config import ModelConfig
from transformer_core.storage.files import atomic_write_bytes
from transformer_core.translator import Translator
from viz_app.cli.batch import parse_heads
from viz_app.export import batch, export_files, folder

HOSTILE = "<script>alert('x')</script> ../../etc"
LINES = b"\xef\xbb\xbfThe bus.\r\n\n" + HOSTILE.encode() + b"\n\xff\xfe\n" + b"x" * 3000 + b"\n"
HEADS = "--heads=cross.2.3,encoder.1.1"


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "lines.txt"
    path.write_bytes(LINES)
    return path


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the figures that are drawn from now on."""
    drawn: list[str] = []
    real = export_files

    def counted(figure: object, *rest: object, **options: object) -> dict[str, bytes]:
        drawn.append(figure.name)  # type: ignore[attr-defined]
        return real(figure, *rest, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(batch, "export_files", counted)
    return drawn


def test_a_batch_has_a_file_for_each_sentence_and_head_and_tells_of_bad_lines(
    run: Callable[..., int], texts: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    out = tmp_path / "figures"
    assert run("export", f"--texts={texts}", HEADS, "--format=json,csv", f"--out={out}") == 1, "two lines failed"
    stems = {f"{line}_{head}" for line in ("001", "003") for head in ("cross_layer2_head3", "encoder_layer1_head1")}
    expected = {stem + ending for stem in stems for ending in (".json", ".csv", ".csv.json")}
    rest = {"contact-sheet-001.pdf", "index.json", "index.html", "journal.jsonl"}
    assert {path.name for path in out.iterdir()} == expected | rest
    index = json.loads((out / "index.json").read_text(encoding="utf-8"))
    assert [line["line"] for line in index["lines"]] == [1, 2, 3, 4, 5]
    problems = {line["line"]: line.get("problems") for line in index["lines"]}
    assert (problems[1], problems[2], problems[3], problems[4]) == (None, ["empty"], None, ["not UTF-8"])
    assert "at most" in problems[5][0]
    assert {m for m in caplog.messages if m.startswith("line ")} == {f"line {n}: {problems[n][0]}" for n in (2, 4, 5)}
    assert index["lines"][2]["text"] == HOSTILE
    figure = json.loads((out / "001_cross_layer2_head3.json").read_text(encoding="utf-8"))
    assert figure["provenance"]["source"] == "The bus."
    assert figure["provenance"]["heads"] == ["2.3"]
    for path in out.iterdir():
        assert str(tmp_path).encode() not in path.read_bytes()


def test_the_page_holds_no_markup_of_a_sentence_and_loads_nothing(
    run: Callable[..., int], texts: Path, tmp_path: Path
) -> None:
    run("export", f"--texts={texts}", "--heads=cross.1.1", "--format=json", f"--out={tmp_path / 'f'}")
    page = (tmp_path / "f" / "index.html").read_text(encoding="utf-8")

    document = Document(page)
    assert "script" not in document.tags
    assert HOSTILE in document.text
    assert all(re.match(r"data:image/png;base64,|00\d_cross", address) for address in document.addresses)
    assert any(address.startswith("00") for address in document.addresses)


def test_an_interrupted_batch_goes_on_with_what_is_missing(
    run: Callable[..., int], tmp_path: Path, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, out = tmp_path / "t.txt", tmp_path / "f"
    texts.write_text("The bus.\nA car.\n", encoding="utf-8")
    command = ("export", f"--texts={texts}", HEADS, "--format=json")
    assert run(*command, f"--out={tmp_path / 'whole'}") == 0
    made.clear()
    real = atomic_write_bytes

    def stops(path: Path, data: bytes) -> None:
        real(path, data)
        if path.name.startswith("002_cross"):
            raise KeyboardInterrupt  # after the file stands there, before the journal knows

    monkeypatch.setattr(folder, "atomic_write_bytes", stops)
    assert run(*command, f"--out={out}") == 1
    assert len(made) == 3
    monkeypatch.setattr(folder, "atomic_write_bytes", real)
    with (out / folder.JOURNAL).open("a", encoding="utf-8") as journal:
        journal.write('{"file": "001_cro')  # a line that was cut off
    made.clear()
    assert run(*command, f"--out={out}") == 0
    assert made == ["headlight_cross_layer2_head3", "headlight_encoder_layer1_head1", "headlight_contact_sheet"]
    made.clear()
    assert run(*command, f"--out={out}") == 0
    assert made == []
    for path in (tmp_path / "whole").iterdir():
        if path.name != folder.JOURNAL:
            assert (out / path.name).read_bytes() == path.read_bytes(), path.name


def test_a_batch_of_another_model_is_another_one(
    run: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, out = tmp_path / "t.txt", tmp_path / "f"
    texts.write_text("The bus.", encoding="utf-8")
    command = ("export", f"--texts={texts}", "--heads=cross.1.1", "--format=json", f"--out={out}")
    assert run(*command) == 0
    monkeypatch.setattr(Translator, "checkpoint_hash", "0" * 64)
    assert run(*command) == 2, "another model's figures are not taken for this one's"


def test_a_file_that_is_gone_or_changed_is_noticed(run: Callable[..., int], tmp_path: Path, made: list[str]) -> None:
    texts, out = tmp_path / "t.txt", tmp_path / "f"
    texts.write_text("The bus.", encoding="utf-8")
    command = ("export", f"--texts={texts}", HEADS, "--format=json", f"--out={out}")
    assert run(*command) == 0
    file = out / "001_cross_layer2_head3.json"
    file.unlink()
    made.clear()
    assert run(*command) == 0
    assert made == ["headlight_cross_layer2_head3"]
    file.write_text("mine")
    assert run(*command) == 2, "somebody else's work is not overwritten"
    assert file.read_text() == "mine"
    assert run(*command, "--force") == 0
    assert file.read_text() != "mine"


def test_other_options_are_refused_where_files_were_made_with_others(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts, out = tmp_path / "t.txt", tmp_path / "f"
    texts.write_text("The bus.", encoding="utf-8")
    command = ("export", f"--texts={texts}", "--heads=cross.1.1", "--format=json", f"--out={out}")
    assert run(*command) == 0
    assert run(*command, "--language=ko") == 2
    assert "with other options or another sentence" in capsys.readouterr().err
    texts.write_text("A car.", encoding="utf-8")
    assert run(*command) == 2
    assert run(*command, "--force") == 0


def test_a_folder_of_somebody_else_is_left_alone(run: Callable[..., int], tmp_path: Path) -> None:
    texts, out = tmp_path / "t.txt", tmp_path / "f"
    texts.write_text("The bus.", encoding="utf-8")
    out.mkdir()
    (out / "thesis.tex").write_text("mine")
    assert run("export", f"--texts={texts}", HEADS, f"--out={out}") == 2
    assert [path.name for path in out.iterdir()] == ["thesis.tex"]


def test_lists_of_heads() -> None:
    config = ModelConfig(vocab_size=10, d_model=4, d_ff=6, num_layers=2, num_heads=2)
    assert [str(place) for place in parse_heads("cross.2.1,encoder.1,cross.2.1", config)] == [
        "cross.2.1", "encoder.1.1", "encoder.1.2",
    ]  # fmt: skip
    assert len(parse_heads("all", config)) == 12
    assert len(parse_heads("decoder", config)) == 4


def test_a_step_that_a_short_sentence_does_not_have_is_told(run: Callable[..., int], tmp_path: Path) -> None:
    texts, out = tmp_path / "t.txt", tmp_path / "f"
    texts.write_text("The bus.", encoding="utf-8")
    assert run("export", f"--texts={texts}", "--heads=cross.1.1", "--step=999", f"--out={out}") == 1
    index = json.loads((out / "index.json").read_text(encoding="utf-8"))
    assert "step is 999, but must be between 1 and" in index["lines"][0]["problems"][0]
    assert index["contact_sheets"] == []
