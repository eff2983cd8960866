"""Several models in one app: where they lie, how they are called and served, and what is kept of each."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from unittest.mock import Mock

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from transformer_core.translator import Translator
from viz_app.lessons.context import LessonContext
from viz_app.lessons.module import lesson_module
from viz_app.lessons.small_target import small_target
from viz_app.lessons.stage import LessonState
from viz_app.serving.measurements.model_card import Languages
from viz_app.serving.models import loader, registry
from viz_app.serving.models.comparison import other_models
from viz_app.serving.models.registry import available_models, display_name, display_names, languages
from viz_app.standalone.paper import render_sheet
from viz_app.text import texts

TEXT = "The little dog."


@pytest.fixture
def two_models(
    fresh_model: None, random_checkpoint: Path, french_checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINT", str(random_checkpoint))
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(french_checkpoint))


def test_only_what_the_repository_tracks_can_be_fetched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped, own = tmp_path / "checkpoints" / "en-xx", tmp_path / "checkpoints" / "my-model"
    for folder in (shipped, own):
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}", encoding="utf-8")
    monkeypatch.setattr(registry, "ROOT", tmp_path)
    assert not registry.is_tracked(shipped), "no repository"
    for arguments in (["init", "-q"], ["add", str(shipped)]):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True, timeout=60)
    assert registry.is_tracked(shipped) and not registry.is_tracked(own)
    shutil.rmtree(shipped)
    assert registry.is_tracked(shipped), "a model that was deleted is what Git has to fetch"
    assert not registry.is_tracked(tmp_path), "the whole repository is no model"
    assert not registry.is_tracked(tmp_path.parent)
    monkeypatch.setenv("PATH", "")
    assert not registry.is_tracked(shipped), "no Git"


def test_services_are_shared_few_and_behind_one_gate(
    two_models: None, french_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    twins = [tmp_path / name for name in ("a", "b", "c")]
    for twin in twins:
        shutil.copytree(french_checkpoint, twin)
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", os.pathsep.join(map(str, [french_checkpoint, *twins])))
    served, french = loader.get_translation_service("random"), loader.get_translation_service("french")
    assert served is not french and served.queue is french.queue
    assert loader.get_translation_service("french") is french, "loaded once"
    assert [loader.get_translation_service(name).name for name in ("a", "b", "c")] == ["a", "b", "c"]
    assert loader.get_translation_service("random") is served, "the one that is served to all stays"
    assert loader.get_translation_service("french") is not french, "of the others two stay"
    assert other_models("a") == ["random", "french", "b", "c"]
    with pytest.raises(loader.UnknownModel):
        loader.get_translation_service("../french")


def context(model: str, language: str = "en", state: LessonState | None = None) -> LessonContext:
    """A visitor of a model."""
    return LessonContext(TEXT, state or LessonState(), language, lambda: loader.get_translation_service(model), "me")


def test_what_the_lessons_keep_is_kept_for_each_model(two_models: None) -> None:
    """Two models may read the same sentence: what was computed of the one is not shown of the other."""
    st.session_state.clear()
    for scene in ("roles", "one"):
        both = [context(name, state=LessonState(scene)) for name in ("random", "french")]
        rows = [lesson_module("heads").data(each).values for each in both]
        shapes = [{kind: len(heads) for kind, heads in values["roles"].items()} for values in rows]
        assert [len(values["roles"]["cross"]) for values in rows] != [0, 0]
        assert shapes[0] != shapes[1], "2 layers of 4 heads, and 3 layers of 2"


def test_a_handout_names_the_model(two_models: None, french_checkpoint: Path) -> None:
    identity = Translator.load(french_checkpoint).checkpoint_hash[:12]
    for language, name in (("en", "English → French"), ("ko", "영어 → 프랑스어")):
        assert f"{name}, french, {identity}" in render_sheet("brief", context("french", language)).decode()


def test_small_models_read_german_whoever_speaks(two_models: None) -> None:
    """French would be noise to them."""
    healthy = Translator.load(Path("checkpoints/small/base"))
    assert small_target(context("french")) == healthy.translate(TEXT).text
    untold = context("random")
    assert small_target(untold) == untold.result.translation.text


def test_languages_are_read_again_when_the_file_changes(tmp_path: Path) -> None:
    path = tmp_path / "metrics.json"
    assert languages(tmp_path) is None
    for wrong in ("{ no JSON", '{"languages": {"source": "en", "target": "<b>fr</b>"}}'):
        path.write_text(wrong)
        assert languages(tmp_path) is None
    path.write_text('{"languages": {"source": "en", "target": "pt-BR"}}')
    os.utime(path, ns=(1, 1))
    result = languages(tmp_path)
    assert result == Languages("en", "pt-BR")
    assert display_name(texts("en"), "x", result) == "English → Portuguese"
    assert display_name(texts("ko"), "x", Languages("en", "x")) == "영어 → x"
    assert display_name(texts("ko"), "x", Languages("en")) == display_name(texts("ko"), "x", None) == "x"


def test_the_shipped_models_are_listed_by_their_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the other models and without them."""
    for name in ("HEADLIGHT_CHECKPOINT", "HEADLIGHT_CHECKPOINTS"):
        monkeypatch.delenv(name, raising=False)
    assert next(iter(available_models())) == "en-de"
    expected = {
        "en-de": "English → German",
        "en-fr": "English → French",
        "en-fr-small": "English → French (en-fr-small)",
        "en-tree": "English → tree",
    }
    assert set(available_models()) == set(expected)
    for name, title in display_names(texts("en")).items():
        assert title == (name if languages(available_models()[name]) is None else expected[name])


def test_a_run_of_a_page_looks_for_the_models_once(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    look = Mock(side_effect=registry._list_models)
    monkeypatch.setattr(registry, "_list_models", look)
    for runs in (1, 2):
        app.run()
        assert look.call_count == runs, "and each run anew"


def test_a_change_of_settings_is_seen_at_once(random_checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with registry.models_listed_once():
        before = list(available_models())
        monkeypatch.setenv("HEADLIGHT_CHECKPOINT", str(random_checkpoint))
        assert list(available_models()) != before and next(iter(available_models())) == random_checkpoint.name
