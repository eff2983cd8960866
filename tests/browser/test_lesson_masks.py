"""The lesson on masks in a real browser: the exam plays by itself, and its words say what its picture shows."""

from __future__ import annotations

import re

from tests.browser.conftest import OpenLesson
from viz_app.lessons.labels import labels

T = labels("en")


def test_the_exam_plays_once_when_it_is_first_seen(open_lesson_file: OpenLesson) -> None:
    lesson = open_lesson_file("masks", "exam", still=False)
    lesson.wait("lesson.settings().at > 0.2")
    lesson.press(" ")
    assert not lesson.get("lesson.stage.playing")
    lesson.get("lesson.set({ at: 0 })")
    unmasked = lesson.said()
    assert "99" in unmasked and "decoder.2.1" in unmasked
    lesson.press(*["ArrowRight"] * 3)
    assert T("lesson_masks.masked") in lesson.page.locator(".controls").inner_text()
    before, after = (int(re.findall(r"(\d+)\s?%", text)[at]) for text, at in ((unmasked, 2), (lesson.said(), 0)))
    assert before > 80 > 20 > after
    lesson.get("lesson.set({ at: lesson.scene.playhead.max })")
    assert T("lesson_masks.generates_nothing") in lesson.said()
    opened = open_lesson_file("masks", "exam", settings="at:2", still=False)
    opened.page.wait_for_timeout(300)
    assert opened.settings()["at"] == 2, "whoever brings settings is shown these"
    follower = open_lesson_file("masks", "rows", still=False)
    follower.get("lesson.showFollowed({ lesson: 'masks', scene: 'exam', settings: { at: 2 } })")
    assert not follower.get("lesson.stage.playing")
    assert follower.settings()["at"] == 2, "where the teacher's stands"
