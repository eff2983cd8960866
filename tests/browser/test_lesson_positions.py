"""The lesson on positions in a real browser: each scene paints and says what Python knows; keys and axe."""

from __future__ import annotations

import numpy as np

from tests.browser.conftest import CheckAccessibility, OpenPage
from tests.browser.lesson_driver import FIND, ROOT, address, inked, ready, settings
from transformer_core.positions import sinusoidal_positions
from viz_app.lessons import load_lesson
from viz_app.lessons.labels import labels

T = labels("en")
SCENES = [scene.name for scene in load_lesson("positions", "en").scenes]


def test_all_scenes_paint_and_the_numbers_are_those_of_the_core(
    open_page: OpenPage, app_url: str, check_accessibility: CheckAccessibility
) -> None:
    page = open_page(address(app_url, "positions", **{"with": "at:4"}), still=True)
    page.locator(".lesson canvas").wait_for()
    page.evaluate(FIND)
    ready(page)
    table = sinusoidal_positions(40, page.evaluate(ROOT + ".lesson.lesson.values.d_model")).double().numpy()
    said = {}
    for scene in SCENES:
        assert page.evaluate(ROOT + ".lesson.name") == scene
        page.wait_for_function(f"!{ROOT}.lesson.stage.drawing")
        assert inked(page) > 0.002, scene
        said[scene] = page.locator(".readout").inner_text()
        if scene != SCENES[-1]:  # from there PageDown leads to the next lesson
            page.keyboard.press("PageDown")
    check_accessibility(page)
    assert f"{np.dot(table[0], table[2]):.2f}" in said["clocks"]
    assert f"{np.dot(table[12], table[17]):.1f}" in said["heatmap"]
    assert said["predict"] in (T("lesson_positions.predict_say"), T("lesson_positions.computing"))
    # What the question hides is not in the table until it is revealed.
    page.wait_for_function(ROOT + ".lesson.lesson.values.backwards")
    page.get_by_role("button", name=T("lesson.reveal")).click()
    translated = page.evaluate(ROOT + ".lesson.lesson.values.backwards")
    assert translated["off"][0] == translated["off"][1] != translated["with"][1]
    assert translated["with"][1] in page.locator(".readout").inner_text()
    # Another word: Python answers, and the picture is the fresh one.
    page.keyboard.press("PageUp")
    page.keyboard.press("PageUp")
    page.get_by_role("slider", name=T("lesson_positions.first")).focus()
    page.keyboard.press("ArrowLeft")
    first = settings(page)["first"]
    page.wait_for_function(f"{ROOT}.lesson.lesson.answers.first === {first}")
    assert page.evaluate(ROOT + ".lesson.scenes.swap.fresh(root().lesson.settings())")
