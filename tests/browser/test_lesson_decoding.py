"""The lesson on decoding in the browser: every scene paints, and BLEU follows what is written."""

from __future__ import annotations

import pytest

from tests.browser.conftest import CheckAccessibility, OpenLesson
from transformer_core.evaluation.metrics import bleu
from viz_app.lessons.labels import labels


def test_the_lesson_on_decoding(open_lesson: OpenLesson, check_accessibility: CheckAccessibility) -> None:
    lesson = open_lesson("decoding")
    for scene in ("tree", "alpha", "predict", "bleu"):
        lesson.go(scene)
        lesson.painted(0.005)
    lesson.page.get_by_role("textbox", name=labels("en")("lesson_decoding.your_translation")).fill("ein kleiner Hund")
    lesson.wait("lesson.lesson.answers.text === 'ein kleiner Hund'")
    values = lesson.get("lesson.lesson.values")
    assert values["bleu"]["score"] == pytest.approx(bleu(["ein kleiner Hund"], [[values["reference"]]]).value)
    lesson.press("ArrowRight")
    assert lesson.settings()["step"] == 1
    check_accessibility(lesson.page)
