"""The lesson on warm-up in a real browser."""

from __future__ import annotations

from tests.browser.conftest import OpenLesson
from viz_app.lessons import load_lesson


def test_from_a_race_of_two_runs_to_a_recorded_training(open_lesson: OpenLesson) -> None:
    lesson = open_lesson("warmup", "runs", still=False)
    _, _, learning, predict = load_lesson("warmup", "en").scenes
    lesson.wait("lesson.stage.playing && lesson.settings().step > 0")  # once, by itself
    lesson.press("End", "ArrowRight")  # a step ends it
    lesson.painted(0.005)

    lesson.get("lesson.set({ step: 1500 })")
    assert "Warm-up 800" in lesson.said() and "Tom ist in Boston." in lesson.said()
    lesson.press("ArrowUp")  # to the next higher peak
    assert "Warm-up 400" in lesson.said()
    first = lesson.settings()["run"]
    lesson.hit("2")  # the handle comes to the peak that is pressed
    assert lesson.settings()["run"] == 2 != first
    assert "Warm-up 50" in lesson.said() and "all rows of its map are alike" in lesson.said()
    lesson.page.get_by_role("slider", name="Warm-up").press("ArrowLeft")
    assert lesson.settings()["run"] == 1

    lesson.press("PageDown")
    lesson.painted()

    lesson.tab(learning.title)
    assert "backwards as: xxxxxxxxxx. Right: 0 of 10" in lesson.said()
    lesson.press("Space")
    lesson.wait("lesson.stage.playing && lesson.settings().at > 0")

    lesson.tab(predict.title)
    assert "4.94" not in lesson.said()
    lesson.press("Enter")
    assert "4.94" in lesson.said()
