"""Comparisons through Streamlit's own test runner: which two payloads the browser is handed for which address."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.mounted import address, headers, opened
from transformer_core.translator import Translator
from viz_app.serving.models.registry import available_models
from viz_app.serving.models.search_tree import branch_translation

TEXT, OTHER = "The dog.", "The train is big."


@pytest.fixture
def app(app: AppTest) -> AppTest:
    app.query_params.update({"text": TEXT, "lang": "en", "against": "cross.2.1"})
    return app


def test_a_link_brings_the_other_sentence_along(app: AppTest, translator: Translator) -> None:
    opened(app, vs=OTHER)
    shown, other = headers(app)
    for header, text in ((shown, TEXT), (other, OTHER)):
        assert header["axes"]["outputs"]["tokens"] == list(translator.translate(text, beam=4).attention.outputs.tokens)
        assert header["about"]["text"] == text
    params = address(app)
    assert (params["against"], params["vs"], params["vsmodel"]) == ("cross.2.1", OTHER, None)


def test_a_branch_can_be_compared_with_the_best(app: AppTest, translator: Translator) -> None:
    opened(app, branch="3")
    shown, other = headers(app)
    best = translator.translate(TEXT, beam=4)
    assert other["axes"]["outputs"]["tokens"] == list(best.attention.outputs.tokens)
    expected = branch_translation(best, 2, translator).attention.outputs.tokens
    assert shown["axes"]["outputs"]["tokens"] == list(expected)


@pytest.mark.parametrize(
    "changes",
    [
        {"vs": TEXT},
        {"vs": "x" * 501},
        {"vs": "나는 학교에 간다"},
        {"vsmodel": "../random"},
        {"vsmodel": "/etc"},
        {"vs": OTHER, "against": "cross"},
    ],
)
def test_what_needs_no_second_payload_or_cannot_be_had(app: AppTest, changes: dict[str, str]) -> None:
    opened(app, **changes)
    assert len(headers(app)) == 1


def test_another_checkpoint_translates_the_same_sentence(
    app: AppTest, random_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    twin = tmp_path / "twin"
    shutil.copytree(random_checkpoint, twin)
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", os.pathsep.join([str(random_checkpoint), str(twin)]))
    opened(app, vsmodel="twin")
    shown, other = headers(app)
    assert (shown["about"]["model"], shown["about"]["models"]) == ("random", ["twin"])
    assert (other["about"]["model"], other["about"]["text"]) == ("twin", TEXT)
    app.text_area(key="text").set_value(OTHER).run()
    assert [header["about"]["text"] for header in headers(app)] == [OTHER, OTHER]
    assert address(app)["vsmodel"] == "twin"


def test_models_are_the_one_served_and_those_listed(
    random_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a/one", "b/one", "empty"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("a/one", "b/one"):
        (tmp_path / name / "config.json").write_text("{}")
    monkeypatch.setenv("HEADLIGHT_CHECKPOINT", str(random_checkpoint))
    listed = [random_checkpoint, tmp_path / "a/one", tmp_path / "b/one", tmp_path / "empty", tmp_path / "missing"]
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", os.pathsep.join(map(str, listed)))
    served = {"random": random_checkpoint}
    assert available_models() == served | {"one": tmp_path / "a/one", "one (2)": tmp_path / "b/one"}
    assert next(iter(available_models())) == "random"
    monkeypatch.delenv("HEADLIGHT_CHECKPOINTS")
    assert list(available_models().values()).count(random_checkpoint) == 1
