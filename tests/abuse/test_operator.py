"""Mishaps of those who run a server: full disks, removed folders, killed processes, clocks that jump."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import socket
import sys
import time
from pathlib import Path

import pytest

from tests.app.serving.decoding.test_batching import check
from tests.app.serving.scheduling.test_request_queue import wait_until
from transformer_core.cli import main
from transformer_core.translator import Translator
from viz_app.cli import HEADLIGHT, app
from viz_app.serving.classes import class_file
from viz_app.serving.classes.class_file import STATE_SETTING
from viz_app.serving.classes.classrooms import IDLE_SECONDS, Classrooms, keep_in_file
from viz_app.serving.decoding import worker_processes
from viz_app.serving.decoding.batching import Batcher
from viz_app.serving.decoding.decoded_batch import DraftBytes
from viz_app.serving.decoding.worker_processes import ModelKey, NoneReady, WorkerProcesses
from viz_app.serving.models.translation_service import TranslationService
from viz_app.serving.scheduling.request_queue import RequestQueue

FULL = OSError(28, "No space left on device")
DRAFT = DraftBytes((), False, b"")


@pytest.mark.process
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
@pytest.mark.parametrize("mishap", ["the temporary folder is full", "it is cleaned", "the model is removed"])
def test_a_killed_process_that_cannot_be_replaced_ends_no_translation(
    random_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mishap: str
) -> None:
    folder = shutil.copytree(random_checkpoint, tmp_path / "model")
    translator = Translator.load(folder)
    workers = WorkerProcesses(1)
    service = TranslationService(translator, RequestQueue(1), decoder=Batcher(translator, RequestQueue(1), workers))
    try:
        service.decoder.start()
        wait_until(lambda: workers.ready == 1, 60)
        process = workers._all[0]
        if mishap == "the model is removed":
            shutil.rmtree(folder)
        elif mishap == "it is cleaned":
            shutil.rmtree(process.flags.path)
        else:
            monkeypatch.setattr(worker_processes, "temporary_folder", lambda _: (_ for _ in ()).throw(FULL))
        (pid,) = process._executor._processes  # type: ignore[union-attr]
        os.kill(pid, signal.SIGKILL)
        for text in ("A dog runs.", "A man rides."):
            check(service.translate("me", text), translator, text)
        (again,) = process._executor._processes or [None]  # type: ignore[union-attr]
        assert (again not in (None, pid)) == (mishap != "the temporary folder is full")
    finally:
        workers.close()


def test_without_a_place_for_temporary_files_the_server_decodes(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Nor is the rest of the warm-up left out."""
    monkeypatch.setattr(worker_processes, "temporary_folder", lambda _: (_ for _ in ()).throw(FULL))
    workers = WorkerProcesses(1)
    with caplog.at_level(logging.WARNING):
        workers.start(ModelKey("model", "hash", None))
    assert "so the server decodes: [Errno 28]" in caplog.text
    with pytest.raises(NoneReady):
        workers.decode(ModelKey("model", "hash", None), [], 4, lambda: False, lambda _: False)
    workers.close()


def test_a_draft_is_lost_on_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise FULL

    flags = worker_processes._Flags.new()
    with monkeypatch.context() as patch:
        patch.setattr("pickle.dump", full)
        flags.give_draft(0, DRAFT)
    assert flags.take_draft(0) is None
    flags.remove()
    flags.give_draft(0, DRAFT)  # the folder is gone, too
    assert not Path(flags.path).exists()


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(STATE_SETTING, str(tmp_path))
    monkeypatch.setattr(class_file, "_SECONDS", 1e6)
    return tmp_path


def restored(teacher: str) -> bool:
    store = Classrooms()
    keep_in_file(store, "8501")
    return store.code_of(teacher) is not None


def test_a_class_is_saved_when_the_disk_has_room_again(
    state: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        raise FULL

    store = Classrooms()
    save = keep_in_file(store, "8501")
    store.open("teacher")
    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING):
        patch.setattr(class_file, "atomic_write_bytes", full)
        for _ in range(3):
            save()
    assert caplog.text.count("would not survive") == 1 and not restored("teacher")
    save()
    assert restored("teacher")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
def test_a_class_is_saved_though_its_folder_was_cleaned(state: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = Classrooms()
    save = keep_in_file(store, "8501")
    (folder,) = state.iterdir()
    folder.rmdir()
    store.open("teacher")
    save()
    assert restored("teacher") and folder.stat().st_mode & 0o777 == 0o700
    shutil.rmtree(folder)
    folder.mkdir(mode=0o777)  # another account was faster
    folder.chmod(0o777)
    store.open("another")
    with caplog.at_level(logging.WARNING):
        save()
    assert "not a folder of this user alone" in caplog.text and not [*folder.iterdir()]


@pytest.mark.parametrize(("hours", "is_kept"), [(-24 * 365, True), (3, True), (5, False), (24 * 365, False)])
def test_a_clock_that_jumps(state: Path, monkeypatch: pytest.MonkeyPatch, hours: int, is_kept: bool) -> None:
    """A class lasts as long as it is used; only at a restart does the time of its file count."""
    store = Classrooms()
    save = keep_in_file(store, "8501")
    store.open("teacher")
    save()
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 3600 * hours)
    assert store.code_of("teacher") == store.open("teacher")
    save()
    assert restored("teacher") == is_kept and (hours * 3600 < IDLE_SECONDS) == is_kept


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        (["--server.address=192.0.2.1"], "192.0.2.1 port 8501: Cannot assign requested address"),
        (["--server.address=nowhere.invalid", "--server.port=8502"], "nowhere.invalid port 8502: "),
    ],
)
def test_an_address_of_another_computer_is_named_in_one_line(
    address: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["app", *address], HEADLIGHT) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: cannot listen on {reason}")


SETTINGS = [
    ({"HEADLIGHT_METRICS_PORT": "abc"}, "HEADLIGHT_METRICS_PORT is 'abc', but must be a positive whole number"),
    ({"HEADLIGHT_WORKERS": "-1"}, "HEADLIGHT_WORKERS is '-1', but must be a positive whole number"),
    ({"HEADLIGHT_MODEL_SERVER": "foo", "HEADLIGHT_WORKERS": "0"}, "HEADLIGHT_MODEL_SERVER is 'foo', but must be"),
    ({"HEADLIGHT_METRICS_PORT": "taken"}, "in use; choose another HEADLIGHT_METRICS_PORT"),
]


@pytest.mark.parametrize(("settings", "reason"), SETTINGS)
def test_an_unusable_setting_is_named_before_the_server_starts(
    settings: dict[str, str], reason: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(app, "run_server", lambda *_: 0)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for name, value in settings.items():
            monkeypatch.setenv(name, str(taken.getsockname()[1]) if value == "taken" else value)
        assert main(["app", "--server.address=127.0.0.2"], HEADLIGHT) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert reason in line


def test_an_option_after_those_of_streamlit_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["app", "--server.headless=true", "--checkpoint", "model"], HEADLIGHT) == 2
    assert "error: --checkpoint: write it before the options of Streamlit" in capsys.readouterr().err


def test_a_model_server_ends_when_its_node_has_ended(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Killed for want of memory, Ray's raylet left a server that let each sentence wait for two minutes."""
    ray = pytest.importorskip("ray")
    from viz_app.serving.cluster import model_server

    nodes = [[{"Alive": True}], [{"Alive": True}, {"Alive": False}], [{"Alive": False}]]
    monkeypatch.setattr(ray, "nodes", lambda: nodes.pop(0))
    monkeypatch.setattr(model_server, "start", lambda _: None)
    monkeypatch.setattr(model_server, "stop", lambda: None)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(os, "_exit", sys.exit)
    assert main(["serve", "--port=18999"], HEADLIGHT) == 1 and not nodes
    assert "error: Ray's node has ended" in capsys.readouterr().err
