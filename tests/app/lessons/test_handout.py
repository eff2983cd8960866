"""Words of lessons and sessions on paper."""

from __future__ import annotations

import re

import pytest

from tests.app.read_html import Page
from viz_app.lessons import Scene, load_lesson
from viz_app.lessons import lesson_markdown as parser
from viz_app.lessons.catalogue import LESSONS, ROUTE, STAGES
from viz_app.lessons.exit_ticket import load_exit_ticket
from viz_app.lessons.handout import lesson_paper
from viz_app.lessons.labels import labels
from viz_app.lessons.session_sheets import STOPS, sheet_paper
from viz_app.text import texts

LONG = 20  # characters that no other sentence has by chance


def plain(text: str) -> str:
    """The words before the first formula or emphasis."""
    return text.partition("$")[0].partition("*")[0].partition("`")[0].strip()


def words_of_the_answer(scene: Scene) -> str:
    """Its first words, where no other sentence has them by chance."""
    first = scene.question.answer[0][2][0] if scene.question is not None else ""
    return first if isinstance(first, str) and len(first) > LONG else ""


def test_a_handout_asks_nobody_to_press_anything() -> None:
    asked = "# T\nS.\n\n## a: A\nsection: 1\n\nTwo heads. [[Press **any** tile.]] Few have a name."
    assert parser.parse(asked, "a", "en").scenes[0].prose == [
        ["p", {}, ["Two heads. Press ", ["strong", {}, ["any"]], " tile. Few have a name."]]
    ]
    on_paper = parser.parse(asked, "a", "en", on_paper=True)
    assert on_paper.scenes[0].prose == [["p", {}, ["Two heads. Few have a name."]]]
    words = load_lesson("dot_product", "en")
    assert "Change any" not in Page(lesson_paper(words, labels("en"))).text
    assert any("Change any" in str(scene.prose) for scene in words.scenes)


# What only somebody at a screen can do, and what only a screen shows.
_FOR_THE_SCREEN = {
    "en": r"\b(press|drag|click|tap|hover|pin up|play, or|arrow keys|step through|stop anywhere|the line below)\b",
    "ko": r"누르|눌러|끌면|끌어|클릭|재생하거나|화살표|커서|고정해|멈춰|아래 줄|써 보세요|넣어 보세요|바꿔",
}


@pytest.mark.parametrize("name", STAGES)
def test_no_handout_speaks_of_the_screen(name: str, language: str) -> None:
    words = load_lesson(name, language, on_paper=True)
    for text in (words.summary, *(str(scene.prose) for scene in words.scenes)):
        assert not re.search(_FOR_THE_SCREEN[language], text, re.IGNORECASE), text
    assert all(scene.prose for scene in words.scenes)


@pytest.mark.parametrize("name", [entry.name for entry in LESSONS])
def test_a_lesson_speaks_of_no_sentence_of_the_reader(name: str, language: str) -> None:
    """The site has no field for one."""
    for text in (str(load_lesson(name, language)), *labels(language).table(f"lesson_{name}").values()):
        assert not re.search("your sentence|입력한 문장", text, re.IGNORECASE), text


@pytest.mark.parametrize("name", [entry.name for entry in LESSONS])
def test_a_handout_has_every_scene_and_its_answers_behind_all_of_them(name: str, language: str) -> None:
    words = load_lesson(name, language)
    page = lesson_paper(words, labels(language))
    before, _, answers = page.partition('class="answers"')
    for scene in words.scenes:
        assert f'data-lesson="{name}" data-scene="{scene.name}"' in before
        if first := words_of_the_answer(scene):
            assert first in Page(answers).text and first not in Page(before).text


def test_the_class_gets_every_stop_and_no_answer(language: str) -> None:
    seen = Page(sheet := sheet_paper("class", labels(language)))
    for name in STOPS:
        for scene in load_lesson(name, language).scenes:
            assert scene.title in seen.text and f'data-lesson="{name}" data-scene="{scene.name}"' in sheet
            first = words_of_the_answer(scene)
            assert not first or first not in seen.text
    ticket = seen.text.rpartition(texts(language)("questions.ticket"))[2]  # an answer may use the words of its scene
    for each in load_exit_ticket(language):
        assert plain(each.question) in ticket
        assert not plain(each.answer) or plain(each.answer) not in ticket


def test_two_pages_have_every_stop_and_question_and_no_answer(language: str) -> None:
    seen = Page(sheet_paper("brief", labels(language)))
    assert "figure" not in seen.names
    for name in STOPS:
        words = load_lesson(name, language, on_paper=True)
        assert words.title in seen.text
        last = [scene for scene in words.scenes if scene.question is not None][-1]
        for choice in last.question.choices if last.question else ():
            assert all(part in seen.text for part in choice.text if isinstance(part, str))
        first = words_of_the_answer(last)
        assert not first or first not in seen.text
    for each in load_exit_ticket(language):
        assert plain(each.question) in seen.text
        assert not plain(each.answer) or plain(each.answer) not in seen.text


def test_the_teacher_gets_minutes_notes_and_answers(language: str) -> None:
    t = labels(language)
    seen = Page(sheet_paper("teacher", t))
    for name, minutes in ROUTE.items():
        assert t("index.minutes", minutes=minutes) in seen.text
        note = t.table(f"lesson_{name}")["teacher_note"] if name in STOPS else t(f"handout.note_{name}")
        assert note in seen.text
    for each in load_exit_ticket(language):
        assert plain(each.question) in seen.text and plain(each.answer) in seen.text
        assert each.lesson in {entry.name for entry in LESSONS}
