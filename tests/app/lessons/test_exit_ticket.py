"""The exit ticket: fifteen questions, each answered by a scene of the route."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from viz_app.lessons import exit_ticket, load_lesson
from viz_app.lessons.catalogue import ROUTE, core_scenes
from viz_app.lessons.lesson_markdown import FOLDER, LessonError
from viz_app.text import LANGUAGES, texts

DOCS = Path(__file__).parents[3] / "docs"
GUIDES = {"en": DOCS / "teaching.md", "ko": DOCS / "teaching.ko.md"}
QUESTIONS = 15
MAX_WORDS = 20  # of a sentence


def read_questions(language: str) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = tomllib.loads((FOLDER / f"exit_ticket.{language}.toml").read_text(encoding="utf-8"))[
        "question"
    ]
    return result


def test_every_question_has_a_scene_on_the_route(language: str) -> None:
    questions = read_questions(language)
    assert len(questions) == QUESTIONS
    for each in questions:
        assert each.keys() == {"question", "answer", "lesson", "scene"} and all(each.values())
        assert each["lesson"] in ROUTE, each
        assert each["scene"] in core_scenes(each["lesson"]), each


def test_all_languages_ask_the_same_in_the_order_of_the_route() -> None:
    english, *others = (
        [(each["lesson"], each["scene"]) for each in read_questions(language)] for language in LANGUAGES
    )
    assert all(other == english for other in others)
    stops = [list(ROUTE).index(lesson) for lesson, _ in english]
    assert stops == sorted(stops)


def test_every_lesson_of_the_route_answers_a_question() -> None:
    assert {each["lesson"] for each in read_questions("en")} == set(ROUTE) - {"translate", "questions"}


def test_answers_are_short_sentences_with_whole_formulas(language: str) -> None:
    for each in read_questions(language):
        for text in (each["question"], each["answer"]):
            assert text.count("$") % 2 == 0, text
            for sentence in re.split(r"(?<=[.?!])\s", re.sub(r"\$[^$]*\$", "x", text)):
                assert len(sentence.split()) <= MAX_WORDS, sentence


@pytest.mark.parametrize("language", GUIDES)
def test_the_teaching_guide_asks_the_same_questions(language: str) -> None:
    rows = re.findall(r"^\| \d+ \| (.+?) \| (.+?) \|$", GUIDES[language].read_text(encoding="utf-8"), re.MULTILINE)
    expected = []
    for each in read_questions(language):
        lesson = load_lesson(each["lesson"], language)
        title = next(scene.title for scene in lesson.scenes if scene.name == each["scene"])
        expected.append((each["question"], f"{lesson.title}, *{title}*"))
    assert rows == expected


@pytest.mark.parametrize("language", GUIDES)
def test_the_teaching_guide_has_the_stops_of_the_route_and_their_minutes(language: str) -> None:
    rows = re.findall(r"^\| ([^|]+) \| (\d+) \| .+ \|$", GUIDES[language].read_text(encoding="utf-8"), re.MULTILINE)
    t = texts(language)
    pages = {"translate": t("index.stop_translate"), "questions": t("index.stop_questions")}
    titles = {name: pages.get(name) or load_lesson(name, language).title for name in ROUTE}
    assert rows == [(titles[name], str(minutes)) for name, minutes in ROUTE.items()]


def test_the_korean_guide_has_every_section_but_that_for_authors() -> None:
    headings = {
        language: re.findall(
            r"^#+ .*", re.sub(r"```.*?```", "", guide.read_text(encoding="utf-8"), flags=re.DOTALL), re.MULTILINE
        )
        for language, guide in GUIDES.items()
    }
    english = [heading.count("#") for heading in headings["en"] if heading != "## Add a lesson"]
    assert [heading.count("#") for heading in headings["ko"]] == english


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "the exit ticket in 'en' cannot be read: exit_ticket.en.toml"),
        ("question = [", "exit_ticket.en.toml: "),
        ("", "exit_ticket.en.toml has no question; each stands below a line [[question]]"),
        ('[[question]]\nquestion = "Why?"\n', "needs exactly question, answer, lesson, scene, but one has question"),
        ('[[question]]\nquestion = "?"\nanswer = "!"\nlesson = "no"\nscene = "no"\n', "there is no lesson 'no'"),
        (
            '[[question]]\nquestion = "?"\nanswer = "!"\nlesson = "masks"\nscene = "no"\n',
            "the lesson masks has no scene 'no'",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_named(
    text: str | None, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if text is not None:
        (tmp_path / "exit_ticket.en.toml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(exit_ticket, "FOLDER", tmp_path)
    with pytest.raises(LessonError, match=re.escape(message)):
        exit_ticket.load_exit_ticket.__wrapped__("en")
