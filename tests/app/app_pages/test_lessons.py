"""The pages Lessons and Lab where something is wrong: a lesson that cannot be read, a deadline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.mounted import mounted, opened
from viz_app.components import events
from viz_app.components.buffer import split_buffer
from viz_app.lessons import catalogue
from viz_app.lessons import lesson_markdown as parser
from viz_app.lessons.catalogue import QUESTIONS, find_lessons
from viz_app.lessons.stage import last_predictions
from viz_app.serving.models import loader
from viz_app.text import texts
from viz_app.ui.lesson_route import OPEN_KEY


def test_an_invalid_lesson_is_named_in_the_index(app: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "lesson.toml").write_text("chapter =", encoding="utf-8")
    monkeypatch.setattr(catalogue, "INVALID_LESSONS", find_lessons(tmp_path)[1])
    opened(app, "lessons")
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
        opened(app, "lessons")
        (warning,) = app.warning
        assert "masks/en" in warning.value and not app.error
        app.session_state[OPEN_KEY] = "masks"
        app.run()
        (error,) = app.error
        assert "masks/en" in error.value
    finally:
        parser.load_lesson.cache_clear()


@pytest.mark.parametrize("scene", ["tour\u202e", "x" * 5_000])
def test_a_scene_that_a_lesson_does_not_have_is_its_first(app: AppTest, scene: str) -> None:
    opened(app, "lessons", lesson="heads", scene=scene)
    assert not app.error
    assert app.session_state[OPEN_KEY] == "heads"


def lab_values(app: AppTest) -> dict[str, Any]:
    """Values that the stage of the Lab gets."""
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


def test_the_first_prediction_of_each_scene_is_shown_right_or_wrong(app: AppTest) -> None:
    """Reports of the stage go to the page of questions; a choice that does not exist is left out."""
    app.session_state[OPEN_KEY] = "positions"
    app.session_state["lesson_predictions"] = {("masks", "predict"): 2, ("why", "predict"): 0, ("heads", "predict"): 9}
    opened(app, "lessons")
    app.session_state[OPEN_KEY] = QUESTIONS
    app.run()
    wrong, right = [body for each in app.get("html") if (body := each.proto.body)[0] in "\u2713\u2717"]
    assert (wrong[0], right[0]) == ("\u2717", "\u2713")
    assert "64" in wrong and "512" in wrong and texts("en")("questions.right") in wrong
    assert "the last" in right and texts("en")("questions.right") not in right


@pytest.mark.parametrize(
    ("report", "kept"),
    [
        ({"predict": 1, "paper": 2}, {"predict": 1, "paper": 2}),
        ({"predict": -1}, {}),
        ({"predict": "1"}, {}),
        ({str(number): 0 for number in range(200)}, {}),
        ("predict", {}),
        (None, {}),
    ],
)
def test_a_report_of_predictions_is_checked(
    report: object, kept: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "last_report", lambda key, state: report)
    assert last_predictions("stage") == kept


def test_the_index_marks_the_lessons_that_were_opened(app: AppTest) -> None:
    def marked() -> set[str]:
        data = mounted(app)["headlight_index"]
        stops = [*data["route"], *(each for _, others in data["others"] for each in others)]
        return {each["name"] for each in stops if each["opened"]}

    opened(app, "lessons")
    assert marked() == set()
    app.session_state[OPEN_KEY] = "why"
    app.run()
    app.button(key="all-lessons").click().run()
    assert marked() == {"why"}
