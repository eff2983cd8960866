"""Questions for the class: from lessons, from a head, and the teacher's own."""

from __future__ import annotations

import numpy as np
import pytest

from viz_app.classroom.questions import (
    attention_question,
    lesson_questions,
    option_titles,
    own_question,
    question_title,
    question_view,
)
from viz_app.components.explorer.selection import Selection
from viz_app.lessons import load_lesson
from viz_app.lessons.labels import labels
from viz_app.serving.classes.polls import LessonQuestion, OwnQuestion
from viz_app.serving.models.translation_service import TranslationService

EN, KO = labels("en"), labels("ko")


def test_every_question_of_a_lesson_with_choices_can_be_asked_in_both_languages() -> None:
    english, korean = dict(lesson_questions("en")), dict(lesson_questions("ko"))
    assert list(english) == list(korean) and len(english) >= 16
    for question in english:
        for t in (EN, KO):
            hidden = question_view(question, t, is_revealed=False)
            assert hidden["right"] is None and hidden["answer"] == [] and len(hidden["choices"]) == question.options
            shown = question_view(question, t, is_revealed=True)
            assert shown["answer"]
            words = next(s for s in load_lesson(question.lesson, t.language).scenes if s.name == question.scene)
            assert words.question is not None and words.question.choices[shown["right"]].right
            assert all(option_titles(question, t)) and question_title(question, t)


def test_a_question_that_is_no_longer_there_says_so() -> None:
    for lost in (
        LessonQuestion(lesson="masks", scene="gone", options=3, right=0),
        LessonQuestion(lesson="gone", scene="predict", options=3, right=0),
        LessonQuestion(lesson="masks", scene="predict", options=3, right=0),  # it has four choices
    ):
        view = question_view(lost, EN, is_revealed=True)
        assert view["prose"] == [["p", {}, [EN("classroom.question_lost")]]] and len(view["choices"]) == 3
    assert len(option_titles(LessonQuestion(lesson="gone", scene="x", options=3, right=0), EN)) == 3


def test_a_pinned_query_is_asked_about_with_the_heads_own_row(service: TranslationService) -> None:
    maps = service.translate("test", "The dog sleeps.").maps
    question = attention_question(maps, Selection(kind="cross", layer=1, head=2, pin="q1"))
    assert question is not None and question.head == "cross.2.3" and len(question.queries) == 1
    np.testing.assert_allclose(question.weights, maps.cross[1, 2, 1], atol=1e-5)
    assert question.right == int(maps.cross[1, 2, 1].argmax())
    assert option_titles(question, EN) == list(question.keys)


def test_a_map_is_asked_about_as_a_whole_where_a_finger_can_tap_it(service: TranslationService) -> None:
    maps = service.translate("test", "The dog sleeps.").maps
    question = attention_question(maps, Selection(kind="encoder", layer=0, head=0))
    assert question is not None and len(question.queries) == len(question.keys) == len(maps.source)
    np.testing.assert_allclose(question.weights, maps.encoder[0, 0].flatten(), atol=1e-5)
    words = attention_question(maps, Selection(kind="encoder", layer=0, head=0, unit="words"))
    assert words is not None and len(words.keys) == len(maps.source.word_texts)
    long = service.translate(
        "test", "The dog and the cat and the horse and the cow sleep in the house by the sea."
    ).maps
    assert attention_question(long, Selection(kind="encoder")) is None
    assert attention_question(long, Selection(kind="encoder", pin="q3")) is not None
    assert attention_question(long, Selection(kind="encoder", pin="q999")) is None
    of_another_model = attention_question(maps, Selection(kind="encoder", layer=98, head=97))
    assert (
        of_another_model is not None
        and of_another_model.weights
        == attention_question(  # type: ignore[union-attr]
            maps, Selection(kind="encoder", layer=98, head=97).fitted(maps)
        ).weights
    )


@pytest.mark.parametrize(
    ("lines", "choices", "right"),
    [
        ("first\n* last\n\n none ", ("first", "last", "none"), 1),
        ("a\nb", ("a", "b"), None),
        ("*a\n*b", ("a", "b"), None),
        ("<b>a</b>\n=SUM(A1)", ("<b>a</b>", "=SUM(A1)"), None),
    ],
)
def test_an_own_question_has_an_answer_in_each_line(lines: str, choices: tuple[str, ...], right: int | None) -> None:
    assert own_question(" Which? ", lines) == OwnQuestion(text="Which?", choices=choices, right=right)


@pytest.mark.parametrize(("text", "lines"), [("", "a\nb"), ("Which?", "a"), ("Which?", "\n *\n"), ("W", "a\n" * 9)])
def test_what_is_no_question_is_none(text: str, lines: str) -> None:
    assert own_question(text, lines) is None
