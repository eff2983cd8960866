"""Histories for the page Model: which models have one, what goes to the browser, what a damaged one says."""

from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from transformer_core.attention_maps import KINDS
from transformer_core.checkpoint import write_manifest
from transformer_core.history.snapshots import History
from viz_app.components.growth import pack
from viz_app.lessons.small_models import HISTORIES
from viz_app.model_card import histories
from viz_app.text import texts

SHIPPED = HISTORIES / "base"


@pytest.fixture
def grown_checkpoint(random_checkpoint: Path, tmp_path: Path) -> Path:
    """A checkpoint that has a history; which one makes no difference to the page."""
    folder = tmp_path / "mine"
    shutil.copytree(random_checkpoint, folder)
    shutil.copytree(SHIPPED, folder / "history")
    write_manifest(folder)
    return folder


def shown(app: AppTest) -> str:
    return " ".join(element.value for element in [*app.header, *app.info, *app.error, *app.markdown])


def test_the_own_history_comes_first(random_checkpoint: Path, grown_checkpoint: Path) -> None:
    assert [model.served for model in histories.available_histories(grown_checkpoint)][:2] == [True, False]
    without = histories.available_histories(random_checkpoint)
    assert without[0].name == "base" and not any(model.served for model in without)


def test_what_goes_to_the_browser() -> None:
    history = History.load(SHIPPED)
    start = {"sentence": 0, "kind": "cross", "moment": 0, "layer": 1, "head": 2}
    payload = pack(history, texts=texts("ko").table("growth"), language="ko", start=start)
    (length,) = struct.unpack_from("<I", payload)
    header = json.loads(payload[4 : 4 + length])
    weights = np.frombuffer(payload, np.uint8, offset=4 + length)
    assert header["steps"] == list(history.steps)
    assert header["start"] == start
    assert weights.size == sum(sentence.weights[kind].size for sentence in history.sentences for kind in KINDS)
    for sent, sentence in zip(header["sentences"], history.sentences, strict=True):
        for kind in KINDS:
            shape, offset = sent["maps"][kind]["shape"], sent["maps"][kind]["offset"]
            found = weights[offset : offset + int(np.prod(shape))].reshape(shape)
            assert np.array_equal(found, sentence.weights[kind])


@pytest.mark.parametrize(
    ("name", "layers", "steps"), [("heads-at-rest", "6 + 6", "8,150"), ("parser", "4 + 4", "7,000")]
)
def test_the_history_of_a_model_that_ships_no_more_is_offered_as_what_it_is(
    name: str, layers: str, steps: str, app: AppTest
) -> None:
    app.query_params["grown_of"] = name
    app.run()
    app.switch_page("app_pages/model.py")
    app.query_params["grown_of"] = name
    app.run()
    facts = {"name": name, "layers": layers, "heads": 8, "steps": steps}
    assert texts("en")("growth.of_kept", **facts) in shown(app)


def test_the_page_says_which_model_it_shows(app: AppTest, language: str) -> None:
    t = texts(language)
    app.query_params["lang"] = language
    app.run()
    app.switch_page("app_pages/model.py").run()
    assert t("growth.title") in shown(app)
    facts = {"name": "base", "layers": "2 + 2", "heads": 8, "steps": "3,000"}
    assert t("growth.of_small", **facts) in shown(app)


def test_the_page_shows_the_models_own_history(
    app: AppTest, grown_checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINT", str(grown_checkpoint))
    app.run()
    app.switch_page("app_pages/model.py").run()
    assert texts("en")("growth.of_served", name="mine", layers="2 + 2", heads=8, steps="3,000") in shown(app)


def test_a_damaged_history_is_told_of(app: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(SHIPPED, tmp_path / "base")
    with (tmp_path / "base" / "attention.safetensors").open("ab") as file:
        file.write(b"x")
    monkeypatch.setattr(histories, "HISTORIES", tmp_path)
    app.run()
    app.switch_page("app_pages/model.py").run()
    (error,) = app.error
    assert "is damaged" in error.value and "attention" in error.value
    assert texts("en")("model.card") in shown(app), "the rest of the page is there"


def test_without_any_history_there_is_no_section(app: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histories, "HISTORIES", tmp_path)
    app.run()
    app.switch_page("app_pages/model.py").run()
    assert texts("en")("growth.title") not in shown(app)
