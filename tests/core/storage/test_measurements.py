"""`derived/`: keyed by its model, refused for any other, and no part of the model."""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path

import pytest

from transformer_core.checkpoint import CheckpointError, files_hash, load_checkpoint
from transformer_core.history.snapshots import History, history_folder
from transformer_core.storage.files import sha256
from transformer_core.storage.manifest import Manifest
from transformer_core.storage.measurements import derived_file, derived_metrics, json_file, read_metrics, write_derived

SMALL = Path(__file__).resolve().parents[3] / "checkpoints" / "small"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A shipped model, to be changed."""
    shutil.copytree(SMALL / "base", tmp_path / "base")
    return tmp_path / "base"


def test_what_is_derived_leaves_the_model_and_its_names_alone(folder: Path) -> None:
    before, files = load_checkpoint(folder), files_hash(folder)
    manifest = (folder / "manifest.json").read_bytes()
    write_derived(folder, before.weights_hash, {"means.json": b"{}", "scores.json": json_file({"x": {"bleu": 1.5}})})
    after = load_checkpoint(folder)
    assert after.weights_hash == before.weights_hash and (folder / "manifest.json").read_bytes() == manifest
    assert after.metrics["scores"] == {"x": {"bleu": 1.5}} and after.metrics["forced"] == before.metrics["forced"]
    assert read_metrics(folder) == after.metrics
    assert files_hash(folder) != files == before.files_hash, "who serves it reads it again"
    shutil.rmtree(folder / "derived")
    assert load_checkpoint(folder).weights_hash == before.weights_hash


def test_what_belongs_to_another_model_is_refused(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    shutil.rmtree(folder / "derived")
    shutil.copytree(SMALL / "unscaled" / "derived", folder / "derived")
    own, other = (Manifest.read(SMALL / name).weights_hash for name in ("base", "unscaled"))
    with pytest.raises(CheckpointError, match=f"was made from the model {other[:12]}, but this is {own[:12]}; rebuild"):
        derived_metrics(folder)
    with caplog.at_level(logging.WARNING):
        loaded = load_checkpoint(folder)
    assert "scores" not in loaded.metrics and loaded.weights_hash == own
    assert other[:12] in loaded.problem and other[:12] in caplog.text
    write_derived(folder, own, {"alignment.json": json_file({"sentences": 1})})
    assert set(Manifest.read(folder / "derived").files) == {"alignment.json"}, "nothing of the other model is kept"
    assert load_checkpoint(folder).problem == ""


def test_a_changed_file_is_refused_and_not_kept(folder: Path) -> None:
    own = Manifest.read(folder).weights_hash
    (folder / "derived" / "scores.json").write_text("{}")
    with pytest.raises(CheckpointError, match=r"scores\.json: is damaged"):
        derived_file(folder, "scores.json")
    assert derived_file(folder, "forced.json") == folder / "derived" / "forced.json"
    assert derived_file(folder, "unlisted.json") is None
    assert "is damaged" in load_checkpoint(folder).problem
    write_derived(folder, own, {"alignment.json": json_file({"sentences": 1})})
    assert set(Manifest.read(folder / "derived").files) == {"alignment.json", "forced.json"}


@pytest.mark.parametrize("name", ["../scores.json", "/tmp/x", "a/b/c", "manifest.json", ".hidden", ""])
def test_a_name_that_leads_elsewhere_is_not_written(folder: Path, name: str) -> None:
    with pytest.raises(ValueError, match="cannot be the name"):
        write_derived(folder, Manifest.read(folder).weights_hash, {name: b""})


@pytest.mark.parametrize(
    "manifest",
    [
        "{}",
        '{"scores.json": "x"}',
        '{"format_version": 2, "weights_hash": "", "files": {}}',
        '{"format_version": 2, "files": {}}',
        '{"format_version": 2, "weights_hash": "OWN", "files": {"../../secret": "HASH"}}',
        '{"format_version": 2, "weights_hash": "OWN", "files": {"scores.json": "HASH"}}',
    ],
)
def test_a_hostile_manifest_is_refused_and_the_model_still_opens(folder: Path, manifest: str) -> None:
    own = Manifest.read(folder).weights_hash
    text = manifest.replace("OWN", own).replace("HASH", "0" * 64)
    (folder / "derived" / "manifest.json").write_text(text)
    with pytest.raises(CheckpointError):
        derived_metrics(folder)
    assert load_checkpoint(folder).problem


def test_a_huge_file_of_scores_is_refused_before_it_is_read(folder: Path) -> None:
    scores = folder / "derived" / "scores.json"
    with scores.open("wb") as file:
        file.truncate(20_000_000)
    manifest = json.loads((folder / "derived" / "manifest.json").read_text())
    manifest["files"]["scores.json"] = sha256(scores)
    (folder / "derived" / "manifest.json").write_text(json.dumps(manifest))
    assert "at most 16,000,000 are allowed" in load_checkpoint(folder).problem


def test_a_history_is_not_shown_for_another_model(folder: Path, tmp_path: Path) -> None:
    history = SMALL / "history" / "base"
    files = {f"history/{file.name}": file.read_bytes() for file in history.iterdir()}
    write_derived(folder, Manifest.read(folder).weights_hash, files)
    own = history_folder(folder)
    assert own == folder / "derived" / "history" and History.load(own).steps == History.load(history).steps
    other = tmp_path / "other"
    shutil.copytree(SMALL / "unscaled", other)
    shutil.rmtree(other / "derived")
    shutil.copytree(folder / "derived", other / "derived")
    with pytest.raises(CheckpointError, match="was made from the model"):
        History.load(other / "derived" / "history")
    shutil.rmtree(other / "derived")
    shutil.copytree(history, other / "history")
    assert history_folder(other) == other / "history", "its place before"
    assert history_folder(SMALL / "base") is None
