"""The bench "Swap" in the browser: a tile is pressed, pairs and sites change, an own pair is typed."""

from __future__ import annotations

from tests.browser.conftest import CheckAccessibility, OpenLesson
from viz_app.lessons.labels import labels

T = labels("en")
ANSWERED = "lesson.scene.own && !lesson.scene.waits(lesson.settings())"


def test_values_are_swapped(open_lesson: OpenLesson, check_accessibility: CheckAccessibility) -> None:
    lesson = open_lesson("lab", "swap")
    lesson.wait(ANSWERED)
    lesson.painted(0.01)
    tile = lesson.get("lesson.scene.places(lesson.stage.pen(null)).grid.tile('cross', 4, 2)")
    middle = tile["size"] / 2
    lesson.canvas.click(position={"x": tile["x"] + middle, "y": tile["y"] + middle})
    assert lesson.settings()["cell"] == "2.4.2"
    assert T("lesson_lab.head_title", kind=T("lesson_lab.cross"), head="5.3") in lesson.said()
    lesson.wait(ANSWERED)
    assert lesson.get("lesson.scene.own.cell") == [2, 4, 2]
    lesson.press("ArrowRight")
    assert lesson.settings()["cell"] != "2.4.2"
    check_accessibility(lesson.page)
    lesson.choose(T("lesson_lab.site_residual"))
    lesson.wait(f"{ANSWERED} && lesson.scene.own.site === 'residual'")
    lesson.painted(0.01)


def test_an_own_pair_is_typed(open_lesson: OpenLesson) -> None:
    lesson = open_lesson("lab", "swap", settings="pair:own", text="The dog is sleeping.")
    lesson.wait("lesson.scene.own?.problem === 'empty'")
    assert lesson.said() == T("lesson_lab.swap_empty")
    lesson.page.get_by_role("textbox", name=T("lesson_lab.other_sentence")).fill("The cat is sleeping.")
    lesson.wait("lesson.scene.own && !lesson.scene.own.problem")
    assert lesson.get("lesson.scene.own.corrupted") == "The cat is sleeping."


def test_in_korean_on_a_phone(open_lesson: OpenLesson, check_accessibility: CheckAccessibility) -> None:
    lesson = open_lesson("lab", "swap", settings="site:ffn", lang="ko", width=390, height=844, dark=True)
    lesson.wait(ANSWERED)
    lesson.painted(0.01)
    check_accessibility(lesson.page)
