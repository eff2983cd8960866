"""The pages Lessons and Lab where something is wrong: a lesson that cannot be read, a deadline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.mounted import mounted
from viz_app.components.buffer import split_buffer
from viz_app.lessons import catalogue
from viz_app.lessons import lesson_markdown as parser
from viz_app.lessons.catalogue import find_lessons
from viz_app.serving.models import loader
from viz_app.ui.lesson_route import OPEN_KEY


def test_an_invalid_lesson_is_named_in_the_index(app: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "lesson.toml").write_text("chapter =", encoding="utf-8")
    monkeypatch.setattr(catalogue, "INVALID_LESSONS", find_lessons(tmp_path)[1])
    app.run()
    app.switch_page("app_pages/lessons.py").run()
    (warning,) = app.warning
    assert "mine/" in warning.value and not app.error


def test_a_lesson_whose_text_is_invalid_leaves_the_others(
    app: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in parser.FOLDER.glob("*/en.md"):
        copy = tmp_path / folder.parent.name / "en.md"
        copy.parent.mkdir()
        copy.write_text("# " if copy.parent.name == "masks" else folder.read_text("utf-8"), encoding="utf-8")
    monkeypatch.setattr(parser, "FOLDER", tmp_path)
    parser.load_lesson.cache_clear()
    try:
        app.run()
        app.switch_page("app_pages/lessons.py").run()
        (warning,) = app.warning
        assert "masks/en" in warning.value and not app.error
        app.session_state[OPEN_KEY] = "masks"
        app.run()
        (error,) = app.error
        assert "masks/en" in error.value
    finally:
        parser.load_lesson.cache_clear()


@pytest.mark.parametrize("scene", ["on", "tour\u202e", "x" * 5_000, "1"])
def test_a_scene_that_a_lesson_does_not_have_is_its_first(app: AppTest, scene: str) -> None:
    app.query_params.update({"lesson": "heads", "scene": scene})
    app.run().switch_page("app_pages/lessons.py").run()
    assert not app.error
    assert app.session_state[OPEN_KEY] == "heads"


def lab_values(app: AppTest) -> dict[str, Any]:
    """What the stage of the Lab is told."""
    values: dict[str, Any] = split_buffer(mounted(app)["headlight_lesson"])[0]["values"]
    return values


def test_a_deadline_leaves_the_stage_and_says_why(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    app.run()
    service = loader.get_translation_service()
    with monkeypatch.context() as late:
        late.setattr(service, "deadline", -1.0)
        app.switch_page("app_pages/lab.py").run()
    assert not app.error
    assert lab_values(app)["bench"] is None and lab_values(app)["late"]
    app.run()
    assert lab_values(app)["late"], "it is not computed again by itself"
    app.button(key="lab-compute").click().run()
    assert not app.error and lab_values(app)["bench"] == "off" and not lab_values(app)["late"]
