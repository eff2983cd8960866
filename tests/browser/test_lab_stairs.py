"""The bench "One head after the other" in the browser: by keyboard, by a tile and along the curve."""

from __future__ import annotations

from tests.browser.conftest import CheckAccessibility, OpenLesson
from viz_app.lessons.labels import labels

T = labels("en")


def test_heads_go_by_keyboard_tile_and_curve(open_lesson: OpenLesson, check_accessibility: CheckAccessibility) -> None:
    lesson = open_lesson("lab", "cumulative")
    lesson.wait("lesson.scene.own")
    lesson.painted(0.01)
    lesson.press("ArrowRight", "ArrowRight")
    assert lesson.settings()["gone"] == 2
    value = lesson.get("lesson.lesson.arrays.log_p.data[2]")
    assert f"{abs(value):.1f}" in lesson.said()
    order = lesson.get("lesson.scene.own.order")
    tile = lesson.get("lesson.scene.places(lesson.stage.pen(null)).grid.tile('cross', 1, 3)")
    lesson.canvas.click(position={"x": tile["x"] + tile["size"] / 2, "y": tile["y"] + tile["size"] / 2})
    number = lesson.get("lesson.scene.heads.all.cross[1][3].number")
    assert lesson.settings()["gone"] == order.index(number) + 1
    axes = (
        "((pen) => lesson.scene.axes(pen, lesson.scene.places(pen).side, lesson.scene.translations(0)))"
        "(lesson.stage.pen(document.createElement('canvas').getContext('2d')))"
    )
    across, up = lesson.get(f"{axes}.across"), lesson.get(f"{axes}.up")
    lesson.canvas.click(position={"x": (across["from"] + across["to"]) / 2, "y": (up["from"] + up["to"]) / 2})
    assert lesson.settings()["gone"] == len(order) // 2
    check_accessibility(lesson.page)
