"""Folders that two commands use at once, and what killed commands and Finder leave in them."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.random_model import save_random_model
from transformer_core.checkpoint import load_checkpoint, write_manifest
from transformer_core.cli import main, variations
from transformer_core.cli.training.run_settings import RunSettings
from transformer_core.paper.presets import preset
from transformer_core.storage import measurements
from transformer_core.storage.files import FolderInUseError, exclusive, recover_interrupted_writes
from transformer_core.storage.manifest import Manifest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows tells neither locks nor living processes")


@pytest.fixture
def dead() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_random_model(tmp_path_factory.mktemp("in-use") / "model", seed=1)


@pytest.mark.process
def test_two_writers_of_derived_lose_nothing(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each reads what is there, adds its own and replaces the folder: `derived --only heads` beside `--only scores`."""
    inside, go_on = threading.Event(), threading.Event()
    identity = Manifest.read(checkpoint).weights_hash
    copy = measurements.shutil.copyfile  # type: ignore[attr-defined]

    def waiting(source: Path, target: Path) -> None:
        copy(source, target)
        inside.set()
        assert go_on.wait(10)

    measurements.write_derived(checkpoint, identity, {"heads.json": b"{}"})
    monkeypatch.setattr(measurements.shutil, "copyfile", waiting)  # type: ignore[attr-defined]
    first = threading.Thread(target=measurements.write_derived, args=(checkpoint, identity, {"scores.json": b"{}"}))
    first.start()
    assert inside.wait(10)
    code = "import sys; from pathlib import Path; from transformer_core.storage.measurements import write_derived\n"
    code += "print(flush=True); write_derived(Path(sys.argv[1]), sys.argv[2], {'probes.json': b'{}'})"
    command = [sys.executable, "-c", code, str(checkpoint), identity]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as second:
        assert second.stdout is not None
        second.stdout.readline()  # it begins
        with pytest.raises(subprocess.TimeoutExpired):
            second.wait(0.5)
        go_on.set()
        first.join(10)
        assert second.wait(10) == 0
    assert set(measurements.derived_manifest(checkpoint).files) == {"heads.json", "scores.json", "probes.json"}


@pytest.fixture
def run(tmp_path: Path) -> RunSettings:
    """Settings of a training, saved in its folder."""
    tiny = preset("tiny")
    made = RunSettings(preset="tiny", model=tiny.model, training=tiny.training, data=str(tmp_path), corpus={})
    made.save(tmp_path, "cpu", 0)
    return made


@pytest.mark.usefixtures("run")
def test_second_training_in_folder_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with exclusive(tmp_path):
        assert main(["train", "--resume", "--out", str(tmp_path), "--device", "cpu"]) == 1
    assert f"{tmp_path} is in use by another process" in capsys.readouterr().err


def test_a_second_training_of_the_same_variation_is_refused(tmp_path: Path, run: RunSettings) -> None:
    (tmp_path / "tokenizer.model").touch()
    nothing: Any = None
    with exclusive(tmp_path), pytest.raises(FolderInUseError):
        variations._train_row(tmp_path, run, "cpu", argparse.Namespace(threads=0), nothing)


def test_second_atlas_in_folder_refused(checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first to end removes the results of both, so the second failed after hours."""
    (tmp_path / "pairs.tsv").write_text("A man rides.\tEin Mann reitet.\n", encoding="utf-8")
    command = ["atlas", "--checkpoint", str(checkpoint), "--sentences", str(tmp_path / "pairs.tsv"), "--parts", "looks"]
    with exclusive(tmp_path):
        assert main([*command, "--out", str(tmp_path), "--device", "cpu"]) == 1
    assert f"{tmp_path} is in use by another process" in capsys.readouterr().err


def test_recovery_leaves_living_processes_alone(tmp_path: Path, dead: int) -> None:
    for number in (dead, os.getppid()):
        (tmp_path / f".model.{number}.partial").mkdir()
    recover_interrupted_writes(tmp_path, "model")
    assert [path.name for path in tmp_path.iterdir()] == [f".model.{os.getppid()}.partial"]


def test_hidden_files_are_no_part_of_a_model(checkpoint: Path, dead: int) -> None:
    """Finder's files, and files of a command that was killed; a manifest that lists them fits no reader."""
    (checkpoint / ".DS_Store").write_bytes(b"Bud1")
    (checkpoint / f".derived.{dead}.partial").mkdir()
    (checkpoint / f".derived.{dead}.partial" / "scores.json").write_bytes(b"{}")
    write_manifest(checkpoint)
    load_checkpoint(checkpoint)


def test_training_killed_in_prepare_restarts(tmp_path: Path, dead: int, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / f".data.{dead}.partial").mkdir()
    start = ["train", "--preset", "tiny", "--out", str(tmp_path), "--device", "cpu"]
    assert main(start) == 2 and "give either --data DIR" in capsys.readouterr().err  # so the folder was accepted
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("more", [[], ["--resume"]])
def test_prepared_run_says_how_to_go_on(tmp_path: Path, more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "data").mkdir()
    assert main(["train", "--preset", "tiny", "--out", str(tmp_path), "--device", "cpu", *more]) == 2
    said = capsys.readouterr().err
    assert (
        f"its text is prepared: use --data {tmp_path / 'data'} with another --out" in said and "add --res" not in said
    )
