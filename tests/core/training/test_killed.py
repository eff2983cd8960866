"""SIGKILL at any moment, and a disk that is full: nothing that was saved is lost, and the result is the same."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import pytest
from safetensors.torch import load_file

from tests.core.training.runs import new_trainer, same, updates
from transformer_core.data import Corpus
from transformer_core.storage.files import recover_interrupted_writes
from transformer_core.training.state import step_folders

if sys.platform == "win32":
    pytest.skip("no SIGKILL, no fork", allow_module_level=True)

from tests.core.training import killed

pytestmark = pytest.mark.process


def check_saved(run: Path, noted: Path) -> None:
    """Every folder that looks like a saved step is one, and the last step that was reported is among them."""
    folders = step_folders(run)
    for folder in folders:
        step = json.loads((folder / "state.json").read_text())["step"]
        assert folder.name == f"step-{step:08d}"
        assert load_file(folder / "model.safetensors")
        assert load_file(folder / "optimizer.safetensors")
    if noted.exists():
        last = max(int(line) for line in noted.read_text().splitlines())
        assert int(folders[-1].name.removeprefix("step-")) >= last
        assert len(folders) >= min(last, killed.CONFIG.keep_checkpoints)


def check_result(corpus: Corpus, folder: Path) -> None:
    """Bit-equal to a training without a kill, with no line of metrics lost or doubled, and no litter."""
    new_trainer(corpus, folder / "straight", killed.CONFIG, dropout=0.3).train()
    for file in ("model.safetensors", "optimizer.safetensors"):
        one, other = (load_file(step_folders(folder / run)[-1] / file) for run in ("straight", "run"))
        assert same(one, other)
    lines, expected = updates(folder / "run"), updates(folder / "straight")
    assert [(line["step"], line["loss"]) for line in lines] == [(line["step"], line["loss"]) for line in expected]
    assert [path.name for path in (folder / "run").iterdir() if path.name.startswith(".")] == []


def run_once(corpus: Corpus, folder: Path, event: int = 0) -> int | None:
    """Train or go on, killed before the given file operation, if it comes; returns the exit status."""
    process = killed.started(killed.train, corpus.folder, folder / "run", folder / "noted", event)
    process.join()
    check_saved(folder / "run", folder / "noted")
    return process.exitcode


def test_killed_at_one_file_operation_after_the_other(corpus: Corpus, tmp_path: Path) -> None:
    """Killed, gone on, killed five operations later, gone on, ... until it is done; the slow test takes each one."""
    kills = 0
    while run_once(corpus, tmp_path, 5 * kills + 1) == -signal.SIGKILL:
        kills += 1
    assert kills >= 4
    check_result(corpus, tmp_path)


@pytest.mark.slow
def test_killed_at_every_file_operation_of_a_training(corpus: Corpus, tmp_path: Path) -> None:
    event, status = 0, None
    while status != 0:
        event += 1
        folder = tmp_path / str(event)
        folder.mkdir()
        status = run_once(corpus, folder, event)
        assert status in (0, -signal.SIGKILL)
        assert run_once(corpus, folder) == 0
        check_result(corpus, folder)
    assert event > 60


def test_a_disk_that_is_full(corpus: Corpus, tmp_path: Path) -> None:
    run, noted = tmp_path / "run", tmp_path / "noted"
    process = killed.started(killed.train, corpus.folder, run, noted, 40)  # some steps are saved by then
    process.join()
    saved = [folder.name for folder in step_folders(run)]
    assert saved
    process = killed.started(killed.train, corpus.folder, run, noted, 0, 20_000)
    process.join()
    assert process.exitcode == 1
    assert [folder.name for folder in step_folders(run)] == saved
    check_saved(run, noted)
    process = killed.started(killed.train, corpus.folder, run, noted)
    process.join()
    assert process.exitcode == 0
    check_result(corpus, tmp_path)


def test_a_folder_that_is_replaced_by_a_process_that_dies(tmp_path: Path) -> None:
    """At every file operation: the old contents or the new ones, whole."""
    folder, seen = tmp_path / "model", set()
    for event in range(1, 100):
        folder.mkdir(exist_ok=True)
        for name in ("a", "b"):
            (folder / name).write_text("old")
        process = killed.started(killed.replace, folder, event)
        process.join()
        recover_interrupted_writes(tmp_path, "model")
        contents = {path.name: path.read_text() for path in folder.iterdir()}
        assert contents in ({"a": "old", "b": "old"}, {"a": "new", "b": "new"})
        assert [path.name for path in tmp_path.iterdir()] == ["model"]
        seen.add(contents["a"])
        if process.exitcode == 0:
            break
    assert process.exitcode == 0
    assert event > 5
    assert seen == {"old", "new"}
