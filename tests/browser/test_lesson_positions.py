"""The lesson on positions in a real browser: each scene paints and says what Python knows; keys and axe."""

from __future__ import annotations

import numpy as np

from tests.browser.conftest import CheckAccessibility, OpenLesson
from transformer_core.model.positions import sinusoidal_positions
from viz_app.lessons import load_lesson
from viz_app.lessons.labels import labels

T = labels("en")
SCENES = [scene.name for scene in load_lesson("positions", "en").scenes]


def test_all_scenes_paint_and_the_numbers_are_those_of_the_core(
    open_lesson: OpenLesson, check_accessibility: CheckAccessibility
) -> None:
    lesson = open_lesson("positions", settings="at:4")
    table = sinusoidal_positions(40, lesson.get("lesson.lesson.values.d_model")).double().numpy()
    said = {}
    for scene in SCENES:
        assert lesson.get("lesson.name") == scene
        lesson.wait("!lesson.stage.drawing")
        lesson.painted()
        said[scene] = lesson.said()
        if scene != SCENES[-1]:  # from there PageDown leads to the next lesson
            lesson.page.keyboard.press("PageDown")
    check_accessibility(lesson.page)
    assert f"{np.dot(table[0], table[2]):.2f}" in said["clocks"]
    assert f"{np.dot(table[12], table[17]):.1f}" in said["heatmap"]
    assert said["predict"] in (T("lesson_positions.predict_say"), T("lesson_positions.computing"))
    # What the question hides is not in the table until it is revealed.
    lesson.wait("lesson.lesson.values.backwards")
    lesson.click(T("lesson.reveal"))
    translated = lesson.get("lesson.lesson.values.backwards")
    assert translated["off"][0] == translated["off"][1] != translated["with"][1]
    assert translated["with"][1] in lesson.said()
    # Another word: Python answers, and the picture is the fresh one.
    lesson.press("PageUp", "PageUp")
    lesson.page.get_by_role("slider", name=T("lesson_positions.first")).focus()
    lesson.page.keyboard.press("ArrowLeft")
    first = lesson.settings()["first"]
    lesson.wait(f"lesson.lesson.answers.first === {first}")
    assert lesson.get("lesson.scenes.swap.fresh(lesson.settings())")
