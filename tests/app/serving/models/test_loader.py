"""Models behind the app: one that is trained again in the same folder takes the place of the one in memory."""

from __future__ import annotations

import gc
import os
import shutil
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.app.serving.scheduling.test_request_queue import PATIENCE, all_busy, wait_until
from tests.app.serving.scheduling.test_single_flight_cache import in_thread
from transformer_core import checkpoint
from transformer_core.storage.manifest import Manifest
from transformer_core.storage.tensor_files import load_shards
from transformer_core.translator import Translator
from viz_app.serving import settings
from viz_app.serving.models import loader

TEXT = "The little dog."


@pytest.fixture(params=["default", "other"])
def folder(
    request: pytest.FixtureRequest,
    fresh_model: None,
    random_checkpoint: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """A checkpoint of the test's own: the one that is served to all, or one that is there to choose."""
    own = tmp_path / "own"
    shutil.copytree(random_checkpoint, own)
    served, listed = (own, random_checkpoint) if request.param == "default" else (random_checkpoint, own)
    monkeypatch.setenv("HEADLIGHT_CHECKPOINT", str(served))
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(listed))
    return own


def replace(folder: Path, by: Path) -> None:
    shutil.rmtree(folder)
    shutil.copytree(by, folder)


def test_a_model_that_was_trained_again_is_served_at_the_next_request(folder: Path, french_checkpoint: Path) -> None:
    old = loader.get_translation_service("own")
    assert loader.get_translation_service("own") is old, "loaded once"
    replace(folder, french_checkpoint)
    new = loader.get_translation_service("own")
    assert new.translator.checkpoint_hash == Manifest.read(folder).weights_hash != old.translator.checkpoint_hash
    expected = Translator.load(french_checkpoint).translate(TEXT, beam=4).text
    assert new.translate("visitor", TEXT).translation.text == expected
    assert loader.get_translation_service("own") is new
    model = weakref.ref(old.translator.model)
    del old
    gc.collect()
    assert model() is None, "the old model is released"


def test_a_request_keeps_the_model_that_it_began_with(folder: Path, french_checkpoint: Path) -> None:
    old = loader.get_translation_service("own")
    with all_busy(old.queue):
        thread, outcome = in_thread(lambda: old.translate("visitor", TEXT).translation.text)
        wait_until(lambda: old.queue.waiting == 1)
        replace(folder, french_checkpoint)
        assert loader.get_translation_service("own") is not old
    thread.join(PATIENCE)
    assert outcome == [old.translator.translate(TEXT, beam=4).text]


def test_the_same_files_are_not_loaded_again_nor_where_the_manifest_is_away(folder: Path) -> None:
    old = loader.get_translation_service("own")
    for file in folder.iterdir():
        os.utime(file, (0, 0))
    assert loader.get_translation_service("own") is old
    (folder / "manifest.json").unlink()
    assert loader.get_translation_service("own") is old


def test_a_model_that_is_replaced_while_it_is_read_is_read_again(
    folder: Path, french_checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: Callable[[Path], Any] = load_shards

    def read_and_replace(folder: Path) -> Any:
        weights = read(folder)
        replace(folder, french_checkpoint)
        return weights

    with monkeypatch.context() as first:
        first.setattr(checkpoint, "load_shards", read_and_replace)
        loader.get_translation_service("own")
    config = loader.get_translation_service("own").translator.config
    assert config == Translator.load(french_checkpoint).config


@pytest.mark.parametrize(
    ("setting", "cuda", "expected"),
    [("", False, "cpu"), ("", True, "cuda"), ("auto", True, "cuda"), ("cpu", True, "cpu"), ("meta", False, "meta")],
)
def test_translations_are_decoded_on_a_gpu_if_there_is_one(
    setting: str, cuda: bool, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_DEVICE", setting)
    monkeypatch.setattr("torch.cuda.is_available", lambda: cuda)
    monkeypatch.setattr("torch.empty", lambda *_, device: None)
    loader.device.cache_clear()
    assert loader.device() == expected
    assert loader._number_of_workers() == (os.cpu_count() if expected == "cpu" else 1)
    loader.device.cache_clear()


@pytest.mark.parametrize("name", ["cuda:77", "no such device"])
def test_a_device_that_cannot_be_used_is_named_in_the_log(
    name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("HEADLIGHT_DEVICE", name)
    loader.device.cache_clear()
    assert loader.device() == "cpu"
    assert len(caplog.records) == 1 and f"HEADLIGHT_DEVICE is {name!r}, which cannot be used" in caplog.text
    loader.device.cache_clear()


@pytest.mark.parametrize(("setting", "processes"), [("0", 0), ("3", 3)])
def test_the_number_of_processes_is_a_setting(
    setting: str, processes: int, fresh_model: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_WORKERS", setting)
    result = loader.worker_processes()
    assert (len(result._all) if result else 0) == processes
    assert loader.request_queue().batches == (processes or loader.request_queue().slots)
    for wrong in ("-1", "many", "1.5"):
        monkeypatch.setenv("HEADLIGHT_WORKERS", wrong)
        with pytest.raises(settings.SettingError, match="HEADLIGHT_WORKERS"):
            loader._number_of_workers()
