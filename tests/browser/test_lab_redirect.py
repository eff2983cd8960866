"""The bench "Redirect" in the browser: bars are dragged, changes taken back, the translation goes on."""

from __future__ import annotations

from tests.browser.conftest import CheckAccessibility, OpenLesson
from viz_app.lessons.labels import labels

T = labels("en")
ANSWERED = "lesson.scene.own && !lesson.scene.waits(lesson.settings())"


def test_a_row_is_changed_by_hand(open_lesson: OpenLesson, check_accessibility: CheckAccessibility) -> None:
    lesson = open_lesson("lab", "redirect")
    lesson.wait(ANSWERED)
    lesson.painted(0.01)
    assert lesson.said() == T("lesson_lab.redirect_none")
    places = lesson.get(
        "(({ row, tall, across }) => ({ row, tall, from: across.from, to: across.to }))"
        "(lesson.scene.places(lesson.stage.pen(null)))"
    )
    x, y = (places["from"] + places["to"]) / 2, places["row"]["y"] + 44 + 1.5 * places["tall"]
    lesson.canvas.click(position={"x": x, "y": y})
    lesson.wait(f"{ANSWERED} && lesson.scene.own.edits.length === 1")
    assert lesson.settings()["edits"].endswith("w1.50")
    after = lesson.get("Array.from(lesson.lesson.arrays.row_after.data)")
    assert abs(after[1] - 0.5) < 1e-3 and abs(sum(after) - 1) < 1e-3
    lesson.press("ArrowRight")
    assert lesson.settings()["key"] == 2
    lesson.click(T("lesson_lab.redirect_only"))
    lesson.wait(f"{ANSWERED} && lesson.scene.own.edits.length === 2")
    lesson.page.get_by_role("checkbox", name=T("lesson_lab.redirect_write")).check(force=True)
    lesson.wait(f"{ANSWERED} && lesson.scene.own.written")
    check_accessibility(lesson.page)
    lesson.click(T("lesson_lab.redirect_undo"))
    lesson.wait(f"{ANSWERED} && lesson.scene.own.edits.length === 1")
    lesson.click(T("lesson_lab.redirect_clear"))
    lesson.wait(f"{ANSWERED} && lesson.scene.own.edits.length === 0")


def test_a_bar_is_dragged(open_lesson: OpenLesson) -> None:
    lesson = open_lesson("lab", "redirect")
    lesson.wait(ANSWERED)
    places = lesson.get(
        "(({ row, tall, across }) => ({ row, tall, from: across.from, to: across.to }))"
        "(lesson.scene.places(lesson.stage.pen(null)))"
    )
    box = lesson.canvas.bounding_box()
    assert box is not None
    y = box["y"] + places["row"]["y"] + 44 + 0.5 * places["tall"]
    wide = places["to"] - places["from"]
    mouse = lesson.page.mouse
    mouse.move(box["x"] + places["from"] + 0.2 * wide, y)
    mouse.down()
    for share in (0.4, 0.6, 0.8):
        mouse.move(box["x"] + places["from"] + share * wide, y)
    mouse.up()
    assert lesson.settings()["edits"].count("_") == 0 and lesson.settings()["edits"].endswith("w0.80")
    lesson.wait(f"{ANSWERED} && Math.abs(lesson.lesson.arrays.row_after.data[0] - 0.8) < 1e-3")


def test_in_korean_on_a_phone(open_lesson: OpenLesson, check_accessibility: CheckAccessibility) -> None:
    edits = "c5.5.0o2"
    lesson = open_lesson("lab", "redirect", settings=f"edits:{edits}", lang="ko", width=390, height=844, dark=True)
    lesson.wait(ANSWERED)
    lesson.painted(0.01)
    assert len(lesson.get("lesson.scene.own.edits")) == 1
    check_accessibility(lesson.page)
