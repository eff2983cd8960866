"""A session on paper: every stop for the class without any answer, everything for the teacher."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.app.read_html import Document
from transformer_core.translator import Translator
from viz_app.lessons import load_lesson
from viz_app.lessons.catalogue import LESSONS, QUESTIONS, ROUTE
from viz_app.lessons.context import LessonContext
from viz_app.lessons.exit_ticket import load_exit_ticket
from viz_app.lessons.route_handout import render_route
from viz_app.lessons.stage import LessonState
from viz_app.serving.models.translation_service import TranslationService
from viz_app.serving.scheduling.request_queue import RequestQueue
from viz_app.text import LANGUAGES, texts

TEXT = "The dog </p><script>alert(1)</script>"
LONG = 20  # characters that no other sentence has by chance
STOPS = [name for name in ROUTE if name not in ("translate", QUESTIONS)]


def about(translator: Translator) -> LessonContext:
    service = TranslationService(translator, RequestQueue(1))
    return LessonContext(TEXT, LessonState(), "en", lambda: service, "test")


@pytest.fixture(scope="module")
def sheet_and_turns(translator: Translator) -> tuple[bytes, int]:
    """The sheet of the class, and how often others were let in while it was drawn."""
    turns: list[str] = []

    @contextmanager
    def turn() -> Iterator[None]:
        turns.append("turn")
        yield

    return render_route("class", about(translator), turn), len(turns)


@pytest.fixture(scope="module")
def teachers(translator: Translator) -> dict[str, bytes]:
    """The sheet of the teacher, by language."""
    context = about(translator)
    return {each: render_route("teacher", dataclasses.replace(context, language=each)) for each in LANGUAGES}


def plain(text: str) -> str:
    """The words before the first formula or emphasis."""
    return text.partition("$")[0].partition("*")[0].partition("`")[0].strip()


def test_the_class_gets_every_stop_and_no_answer(sheet_and_turns: tuple[bytes, int]) -> None:
    sheet, turns = sheet_and_turns
    seen = Document(sheet.decode())
    assert "script" not in seen.tags and TEXT in seen.text
    assert seen.addresses and all(address.startswith("data:") for address in seen.addresses)
    scenes = [scene for name in STOPS for scene in load_lesson(name, "en").scenes]
    assert turns == len(scenes), "others draw between two scenes"
    for scene in scenes:
        assert scene.title in seen.text
    for name in STOPS:
        for scene in load_lesson(name, "en").scenes:
            first = scene.question.answer[0][2][0] if scene.question is not None else ""
            if isinstance(first, str) and len(first) > LONG:
                assert first not in seen.text
    ticket = seen.text.rpartition(texts("en")("questions.ticket"))[2]  # an answer may use the words of its scene
    for each in load_exit_ticket("en"):
        assert plain(each.question) in ticket
        assert not plain(each.answer) or plain(each.answer) not in ticket


def test_two_pages_have_every_stop_and_question_and_no_answer(translator: Translator, language: str) -> None:
    sheet = render_route("brief", dataclasses.replace(about(translator), language=language))
    seen = Document(sheet.decode())
    assert "script" not in seen.tags and "img" not in seen.tags and TEXT not in seen.text
    for name in STOPS:
        words = load_lesson(name, language, on_paper=True)
        assert words.title in seen.text and words.summary in seen.text
        question = [scene.question for scene in words.scenes if scene.question is not None][-1]
        for choice in question.choices:
            assert all(part in seen.text for part in choice.text if isinstance(part, str))
        answer = question.answer[0][2][0]
        assert not isinstance(answer, str) or len(answer) < LONG or answer not in seen.text
    for each in load_exit_ticket(language):
        assert plain(each.question) in seen.text
        assert not plain(each.answer) or plain(each.answer) not in seen.text


def test_the_teacher_gets_minutes_notes_and_answers(
    translator: Translator, teachers: dict[str, bytes], language: str
) -> None:
    context = dataclasses.replace(about(translator), language=language)
    seen = Document(teachers[language].decode())
    for name, minutes in ROUTE.items():
        assert f"{minutes}\u202f{texts(language)('index.minutes')}" in seen.text
        note = context.t.table(f"lesson_{name}")["teacher_note"] if name in STOPS else context.t(f"handout.note_{name}")
        assert note in seen.text
    tickets = load_exit_ticket(language)
    assert tickets
    for each in tickets:
        assert plain(each.question) in seen.text and plain(each.answer) in seen.text
        assert each.lesson in {entry.name for entry in LESSONS}


@pytest.mark.parametrize(
    "options", [pytest.param([], marks=pytest.mark.slow), ["--brief"], ["--teacher", "--language=ko"]]
)
def test_the_command_writes_the_same(
    options: list[str],
    run: Callable[..., int],
    tmp_path: Path,
    translator: Translator,
    teachers: dict[str, bytes],
    sheet_and_turns: tuple[bytes, int],
) -> None:
    out = tmp_path / "a.html"
    assert run("lesson", "--lesson=session", f"--text={TEXT}", *options, f"--out={out}") == 0
    brief = render_route("brief", about(translator)) if "--brief" in options else b""
    assert out.read_bytes() == (brief or (teachers["ko"] if options else sheet_and_turns[0]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--lesson=session", "--scene=waves", "--out=a.pdf"], "--scene needs one lesson"),
        (["--lesson=masks", "--teacher", "--out=a.html"], "--teacher is only for --lesson session"),
        (["--lesson=session", "--teacher", "--brief", "--out=a.html"], "--brief and --teacher are two files"),
        (["--lesson=session", "--out=a.pdf"], "a handout is an .html file"),
    ],
)
def test_bad_options_get_one_line(
    options: list[str], message: str, run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("lesson", *options) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
