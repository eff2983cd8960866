"""The lesson "What is wrong with this model?" in a real browser."""

from __future__ import annotations

from tests.browser.conftest import OpenLesson
from tests.browser.scene_layout import unreadable
from viz_app.lessons import load_lesson
from viz_app.lessons.labels import labels

T = labels("en")
SCENES = load_lesson("broken", "en").scenes
READY = "lesson.scene.ready"


def test_evidence_then_a_name_also_of_a_long_sentence(open_lesson_file: OpenLesson) -> None:
    lesson = open_lesson_file("broken", "a", text="Tom reads a book.")
    for scene in SCENES[:4]:
        lesson.tab(scene.title)
        lesson.wait(READY)
        lesson.painted()
        assert scene.question is not None
        assert "BLEU" not in lesson.said()
        for exhibit in ("attention", "order", "vectors", "evenness", "loss"):
            lesson.choose(T(f"lesson_broken.exhibit_{exhibit}"))
            lesson.wait(f"lesson.settings().exhibit === '{exhibit}'")
            lesson.painted()
            assert lesson.said()
    lesson.tab(SCENES[0].title)
    lesson.wait(READY)
    lesson.choose(T("lesson_broken.exhibit_attention"))
    assert unreadable(lesson, "a", "en") == []
    lesson.choose(T("lesson_broken.exhibit_order"))
    assert "by 0.00 in the suspect" in lesson.said()
    lesson.page.get_by_role("button", name="positional encoding").click()
    lesson.press("Enter")
    assert "BLEU: 19.9 healthy, 17.3 suspect" in lesson.said()
    lesson.tab(SCENES[4].title)
    lesson.wait(READY)
    lesson.painted()
    assert "future tokens" not in lesson.said()
    lesson.press("Enter")
    assert "of its attention on future tokens" in lesson.said()
    lesson.painted()

    # A long sentence is cut.
    text = "The woman who lives next door is a doctor and works in the hospital with her old friends."
    lesson = open_lesson_file("broken", "d", text=text, settings="exhibit:attention,head:9", width=390)
    lesson.wait(READY)
    lesson.painted()
    assert T("lesson_broken.cut") in lesson.said()
    assert lesson.get("lesson.lesson.values.read") != text
