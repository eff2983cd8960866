"""The lesson on the whole way in a browser: every scene paints, stations can be pressed, steps and keys work."""

from __future__ import annotations

import json

import pytest

from tests.browser.conftest import CheckAccessibility, OpenLesson, checkpoint
from tests.browser.lesson_driver import Lesson
from viz_app.lessons import load_lesson
from viz_app.lessons.labels import labels

T = labels("en")
STATION = "lesson.scene.moment(lesson.settings().at).station"


def station(lesson: Lesson, *names: str) -> list[object]:
    """Of the station at which the sentence is."""
    found = lesson.get(STATION)
    return [found[name] for name in names]


def test_the_sentence_goes_through_figure_1(open_lesson: OpenLesson, check_accessibility: CheckAccessibility) -> None:
    lesson = open_lesson("architecture")
    lesson.painted(0.02)
    assert station(lesson, "name") == ["ids"]
    lesson.press("ArrowRight", "ArrowRight", "ArrowRight")
    assert station(lesson, "name", "layer") == ["self_attention", 0]
    # A box is pressed, then the number of a layer: the same station there.
    lesson.hit("decoder cross_attention")
    assert station(lesson, "name", "side", "layer") == ["cross_attention", "decoder", 0]
    assert lesson.get(f"lesson.scene.shape({STATION})") in lesson.said()
    lesson.page.wait_for_function("(new URL(location.href).searchParams.get('with') ?? '').includes('at:')")
    lesson.page.keyboard.press("End")  # no key of the lesson: nothing changes
    assert station(lesson, "name") == ["cross_attention"]
    lesson.click(T("lesson.table"))
    assert lesson.rows.count() == lesson.get("lesson.scene.route.length")
    check_accessibility(lesson.page)


@pytest.mark.parametrize(("language", "width", "dark"), [("en", 1280, True), ("ko", 390, False)])
def test_every_scene_paints_and_fits(open_lesson: OpenLesson, language: str, width: int, dark: bool) -> None:
    lesson = open_lesson("architecture", lang=language, width=width, dark=dark)
    for scene in load_lesson("architecture", "en").scenes:
        lesson.go(scene.name)
        lesson.painted(0.02)
        assert lesson.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), scene.name
        assert lesson.said().strip()
        description = lesson.canvas.get_attribute("aria-label")
        assert description and "{" not in description and "undefined" not in description, scene.name


def test_steps_controls_and_the_hidden_answer(open_lesson: OpenLesson) -> None:
    lesson = open_lesson("architecture")
    lesson.go("training")
    lesson.press("ArrowRight", "ArrowRight")
    assert lesson.settings()["step"] == 3
    assert "6" in lesson.said(), "1 + 2 + 3 rows without a cache"
    lesson.choose(T("lesson_architecture.cache_with"))
    assert lesson.get("lesson.scene.lit(lesson.settings())") == "last"
    lesson.go("ffn")
    lesson.press("ArrowRight")
    slots = lesson.get("lesson.scene.slots(4, lesson.settings().at)")
    assert slots == [1, 0, 2, 3], "the first token is at the second place, the second at the first"
    halfway = lesson.get("lesson.scene.slots(4, 1.5)")
    assert sorted(halfway) != slots and sum(halfway) == 6
    lesson.go("residual")
    stats = lesson.get("lesson.scene.rows(lesson.scene.moment(lesson.settings())).map((row) => row.stats)")
    width = json.loads((checkpoint() / "config.json").read_text(encoding="utf-8"))["model"]["d_model"]
    for mean, deviation, length in stats:
        assert abs(length - (width * (mean**2 + deviation**2)) ** 0.5) < 1e-3, "one vector, three numbers"
    lesson.go("predict")
    lesson.click(T("lesson.table"))
    assert lesson.rows.count() == 0, "hidden"
    lesson.click(T("lesson.reveal"))
    assert lesson.rows.count() == 4
    assert T("lesson_architecture.part_feed_forward") in lesson.said()
