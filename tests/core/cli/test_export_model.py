"""The command `export-model`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.core.cli.workplace import Call, one_line_error
from tests.core.model_export.peers import CHECKPOINTS, Marian
from transformer_core.cli.checkpoint.export_model import PROGRAMS
from transformer_core.model_export.exporting import WRITERS


def test_every_program_can_be_chosen() -> None:
    assert tuple(WRITERS) == PROGRAMS


def test_folder_is_replaced_only_with_force(tmp_path: Path, call: Call, caplog: pytest.LogCaptureFixture) -> None:
    out = tmp_path / "out"
    given = ("export-model", "--checkpoint", CHECKPOINTS / "en-fr-small", "--to", "transformers", "--out", out)
    done = call(*given)
    assert done.status == 0, done.err
    said = json.loads(done.out.splitlines()[-1])
    assert said["program"] == "transformers" and len(said["checkpoint_hash"]) == 64
    assert said["files"].keys() == {each.name for each in out.iterdir()}
    assert all(note in caplog.messages for note in said["notes"])
    (text,) = Marian.load(out).texts(["A man rides a bicycle."], num_beams=1)
    assert text.startswith("Un homme")
    assert "exists; add --force" in one_line_error(call(*given))
    assert call(*given, "--force").status == 0


def test_another_folder_is_never_replaced(tmp_path: Path, call: Call) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine", encoding="utf-8")
    given = ("export-model", "--checkpoint", CHECKPOINTS / "en-fr-small", "--to", "transformers", "--force")
    assert "is not a model that was exported" in one_line_error(call(*given, "--out", tmp_path / "out"))
    assert (tmp_path / "out" / "mine.txt").read_text(encoding="utf-8") == "mine"


def test_what_has_no_counterpart_is_one_line(tmp_path: Path, call: Call) -> None:
    folder = CHECKPOINTS / "small" / "no-mask"
    done = call("export-model", "--checkpoint", folder, "--to", "transformers", "--out", tmp_path / "out")
    assert one_line_error(done, 1).strip() == "error: causal is False, but MarianMTModel supports only True"
    assert not any(tmp_path.iterdir())
