"""Pages of `headlight page` from hostile sentences, labels and paths: text stays data, and no odd file is replaced."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.abuse.samples import SMALL
from tests.abuse.target import within
from tests.app.read_html import Page
from tests.hostile import LONE, STRINGS
from transformer_core.cli import main
from viz_app.cli import PROGRAM
from viz_app.components.buffer import join_buffer
from viz_app.standalone import origin
from viz_app.standalone.document import PageSentence, explorer_page
from viz_app.standalone.origin import Origin
from viz_app.text import texts


def written(out: Path, *options: str) -> int:
    return main(["page", f"--checkpoint={SMALL / 'base'}", "--branches=1", *options, f"--out={out}"], PROGRAM)


def hostile_page(text: str) -> bytes:
    """A page with a text wherever one comes from outside."""
    header = {"version": 2, "selection": {}, "texts": {"title": text}}
    sentence = PageSentence(text=text, branches=[join_buffer(header)], off={text: text}, free={text: text})
    result = Origin(record={"checkpoint": text, "command": text}, licences={text: text})
    return explorer_page([sentence, sentence], language="en", origin=result, cards={text: text}, roles={text: text})


@pytest.mark.parametrize("text", [*STRINGS, LONE, "</pre></dd>\x00\x1b[201~", '" onload="x', "a\r\nb"])
def test_no_text_becomes_markup(text: str) -> None:
    plain, page = Page(hostile_page("a").decode()), Page(hostile_page(text).decode())
    assert [(tag, attributes.keys()) for tag, attributes in page.tags] == [
        (tag, attributes.keys()) for tag, attributes in plain.tags
    ]
    assert page.policy == plain.policy
    assert page.policy["default-src"] == ["'none'"] and page.policy["base-uri"] == ["'none'"]
    shown: dict[str, Any] = page.data
    assert [each["text"] for each in shown["sentences"]] == [text, text]
    ids = {str(attributes.get("id")) for _, attributes in page.tags if "id" in attributes}
    assert ids == {"content", "page", "findings", "s0b0", "s0flow", "s1b0", "s1flow"}


@pytest.mark.skipif(os.name != "posix", reason="needs pipes")
def test_only_files_are_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "pipe.html")
    (tmp_path / "folder.html").mkdir()
    for name in ("pipe.html", "folder.html", "missing/a.html", "a.htm"):
        assert written(tmp_path / name, "--text=dog", "--force") == 2, name
    (tmp_path / "old.html").write_text("old")
    assert written(tmp_path / "old.html", "--text=dog") == 2
    assert (tmp_path / "old.html").read_text() == "old" and "--force" in capsys.readouterr().err


def test_a_file_of_sentences_is_read_within_bounds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = {"long": b"a" * 1_000_001, "zero": b"a\0b", "many": b"\n".join(b"dog %d" % n for n in range(65))}
    for name, data in lines.items():
        (tmp_path / name).write_bytes(data)
        assert written(tmp_path / "a.html", f"--texts={tmp_path / name}") == 2
    said = capsys.readouterr().err
    assert "line 1 it has more than 1,000,000 bytes" in said and "a NUL character" in said
    assert "at most 64 sentences" in said and not (tmp_path / "a.html").exists()


def test_an_endless_heading_of_a_card_takes_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(origin, "prose", lambda folder: "## " + "licence" * 14_000)
    model: Any = SimpleNamespace(translator=SimpleNamespace(checkpoint=SimpleNamespace(folder="")))
    with within():
        assert origin.model_licences(model, texts("en")) == {}
