"""The lesson on heads in the browser: every scene paints, heads can be pressed, and the head of the tour opens."""

from __future__ import annotations

import pytest

from tests.browser.app_driver import WORKED
from tests.browser.conftest import CheckAccessibility, OpenLesson
from tests.browser.rest import until
from viz_app.lessons.labels import labels
from viz_app.text import texts


def test_a_hidden_answer_is_computed(open_lesson_file: OpenLesson) -> None:
    # The last scene hides its answer; the costly number comes when it is open.
    lesson = open_lesson_file("heads", "predict")
    lesson.wait("lesson.lesson.values.alone !== null")
    assert lesson.get("lesson.revealed") is False
    lesson.click(texts("en")("lesson.reveal"))
    assert str(lesson.get("lesson.lesson.values.alone.same")) in lesson.said()


def test_looking_is_not_doing_and_heads_rest(open_lesson_file: OpenLesson) -> None:
    lesson = open_lesson_file("heads", "looking")
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


@pytest.mark.parametrize(("language", "width", "dark"), WORKED)
def test_the_papers_heads_asked_of_this_model(
    open_lesson: OpenLesson, check_accessibility: CheckAccessibility, language: str, width: int, dark: bool
) -> None:
    lesson = open_lesson("heads", "paper", lang=language, width=width, dark=dark)
    lesson.wait("lesson.lesson.values.paper")
    t = labels(language)
    rows = lesson.get("lesson.lesson.values.paper.rows")
    assert "%" not in lesson.said() and lesson.get("lesson.scene.table(lesson.settings(), false)") is None
    lesson.press("ArrowRight")
    assert lesson.settings()["row"] == 1 and t("lesson_heads.paper_anaphora") in lesson.said()
    lesson.page.locator(".reveal").click()
    result = rows[1]
    head = f"{result['layer'] + 1}.{result['head'] + 1}"
    assert t(f"lesson_heads.paper_{result['verdict']}", head=head) in lesson.said()
    assert f"{round(result['baseline'] * 100)}\u202f%" in lesson.said()
    lesson.hit("2")
    assert lesson.settings()["row"] == 2
    opener = lesson.page.locator(".st-key-open-card button")
    assert until(lesson.page, lambda: f"{rows[2]['layer'] + 1}.{rows[2]['head'] + 1}" in opener.inner_text())
    check_accessibility(lesson.page, "dark", "light")
