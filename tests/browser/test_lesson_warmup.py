"""The lesson on warm-up in a real browser."""

from __future__ import annotations

from tests.browser.conftest import OpenLesson
from viz_app.lessons import load_lesson


def test_from_the_formula_to_a_recorded_training(open_lesson: OpenLesson) -> None:
    lesson = open_lesson("warmup", "curve", settings="step:2000", still=False)
    _, _, _, learning, predict = load_lesson("warmup", "en").scenes
    lesson.painted(0.005)
    assert lesson.said().startswith("Step 2,000")
    assert "3.49" in lesson.said()  # 512^-0.5 * 2000 * 4000^-1.5 = 3.494e-4
    lesson.press("ArrowRight")
    assert lesson.settings()["step"] == 2001  # steps of 100 from the first update on

    for _ in ("runs", "adam"):
        lesson.press("PageDown")
        lesson.painted()

    lesson.tab(learning.title)
    lesson.press("Space")
    lesson.wait("lesson.stage.playing && lesson.settings().at > 0")

    lesson.tab(predict.title)
    assert "4.94" not in lesson.said()
    lesson.press("Enter")
    assert "4.94" in lesson.said()
