"""The lesson "Why self-attention" in a real browser: its layers are measured by the real server."""

from __future__ import annotations

from tests.browser.conftest import OpenLesson
from viz_app.lessons.labels import labels

T = labels("en")


def test_layers_are_measured_watched_and_stopped(open_lesson: OpenLesson) -> None:
    lesson, other = (open_lesson("why", "timed") for _ in range(2))
    for each in (lesson, other):
        each.painted()
        each.wait("lesson.scene.measurement !== null")
    assert lesson.said() == T("lesson_why.timed_idle", d=64)
    lesson.choose("256")
    lesson.click(T("lesson_why.measure"))
    for each in (lesson, other):  # who has the scene open sees it
        each.wait("lesson.scene.measurement.points['256']?.length > 1")
    assert other.said().startswith("Measuring on this server: d = 256")
    lesson.click(T("lesson_why.stop"))
    for each in (lesson, other):
        each.wait("lesson.scene.measurement.state === 'stopped'")
    count = lesson.get("lesson.scene.measurement.points['256'].length")
    assert 2 <= count < lesson.get("lesson.scene.measurement.total")
    assert lesson.said().startswith(T("lesson_why.timed_stopped", d=256, done=count, total=32))
    lesson.page.get_by_role("button", name=T("translate.download")).wait_for()  # the picture for print: by itself
    lesson.click(T("lesson.table"))
    assert lesson.rows.count() >= 1
    # A slider is there only where it does something.
    lesson.go("path")
    lesson.choose(T("lesson_why.layer_recurrent"))
    slider = lesson.page.get_by_role("slider", name="r", exact=True)
    assert slider.count() == 0
    lesson.choose(T("lesson_why.layer_restricted"))
    slider.wait_for()
