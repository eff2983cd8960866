"""The lesson on heads in the browser: heads are pressed, and what is hidden comes when it is asked for."""

from __future__ import annotations

from tests.browser.conftest import OpenLesson
from viz_app.lessons.labels import labels

T = labels("en")


def test_heads_are_pressed_and_what_is_hidden_comes_when_asked_for(open_lesson_file: OpenLesson) -> None:
    # The last scene hides its answer; the costly number comes when it is open.
    lesson = open_lesson_file("heads", "predict")
    lesson.wait("lesson.lesson.values.alone !== null")
    assert lesson.get("lesson.revealed") is False
    lesson.click(T("lesson.reveal"))
    assert str(lesson.get("lesson.lesson.values.alone.same")) in lesson.said()

    lesson.go("looking")
    lesson.wait("lesson.lesson.values.looking")
    pairs = lesson.get("lesson.scene.pairs")
    row = lesson.get("lesson.scene.shown(lesson.settings())")
    lesson.press("ArrowRight")
    assert lesson.settings()["row"] == (row + 1) % len(pairs["rows"])
    lesson.hit("0")
    words = lesson.get("lesson.lesson.values.looking.words")
    needed = words[pairs["rows"][0]["needed"]].strip(chr(0x2581))
    assert lesson.settings()["row"] == 0 and f"“{needed}”" in lesson.said()

    lesson.go("rest")
    lesson.wait("lesson.lesson.values.rest")
    recorded = lesson.get("lesson.lesson.values.rest")
    last = len(recorded["steps"]) - 1
    assert f"{recorded['resting'][last]} of 96 self-attention heads rest" in lesson.said(), "it opens at the end"
    most = recorded["looking"].index(max(recorded["looking"]))
    lesson.get(f"lesson.set({{ at: {most} }})")
    assert f"Step {recorded['steps'][most]:,}:" in lesson.said() and f"{max(recorded['looking'])} look" in lesson.said()
    lesson.hit("cross 5 2")
    assert "Head cross.6.3 has" in lesson.said()

    lesson.go("paper")
    lesson.wait("lesson.lesson.values.paper")
    rows = lesson.get("lesson.lesson.values.paper.rows")
    assert "%" not in lesson.said() and lesson.get("lesson.scene.table(lesson.settings(), false)") is None
    lesson.press("ArrowRight")
    assert lesson.settings()["row"] == 1 and T("lesson_heads.paper_anaphora") in lesson.said()
    lesson.click(T("lesson.reveal"))
    assert T(f"lesson_heads.paper_{rows[1]['verdict']}", head=rows[1]["head"]) in lesson.said()
    assert f"{round(rows[1]['baseline'] * 100)}\u202f%" in lesson.said()
    lesson.hit("2")
    assert lesson.settings()["row"] == 2
