"""Exit ticket: questions on the paper for the end of a class, each with the scene that answers it.

`exit_ticket.en.toml` and `exit_ticket.ko.toml` have the same questions in the same order:

    [[question]]
    question = "Why are the dot products divided by √d_k?"
    answer = "So that the softmax ..."
    lesson = "dot_product"
    scene = "scaled"
"""

from __future__ import annotations

import dataclasses
import tomllib
from dataclasses import dataclass
from functools import cache

from viz_app.lessons.catalogue import LESSONS
from viz_app.lessons.lesson_markdown import FOLDER, LessonError, load_lesson


@dataclass(frozen=True, kw_only=True)
class ExitQuestion:
    """Question, its answer, and the scene that shows it."""

    question: str
    answer: str
    lesson: str
    scene: str


@cache
def load_exit_ticket(language: str) -> tuple[ExitQuestion, ...]:
    """Load the questions in a language.

    Raises:
        LessonError: The file is missing, has another form, holds no question, or names a scene that does not exist.
    """
    path = FOLDER / f"exit_ticket.{language}.toml"
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("question")
    except OSError as error:
        raise LessonError(f"the exit ticket in {language!r} cannot be read: {path.name}") from error
    except ValueError as error:
        raise LessonError(f"{path.name}: {error}") from error
    if not isinstance(entries, list) or not entries:
        raise LessonError(f"{path.name} has no question; each stands below a line [[question]]")
    try:
        return tuple(_question(entry, language) for entry in entries)
    except (ValueError, TypeError) as error:
        raise LessonError(f"{path.name}: {error}") from error


def _question(entry: dict[str, str], language: str) -> ExitQuestion:
    keys = [field.name for field in dataclasses.fields(ExitQuestion)]
    if not isinstance(entry, dict) or entry.keys() != set(keys):
        raise ValueError(f"a question needs exactly {', '.join(keys)}, but one has {', '.join(entry)}")
    question = ExitQuestion(**entry)
    if question.lesson not in {each.name for each in LESSONS}:
        raise ValueError(f"there is no lesson {question.lesson!r}")
    if question.scene not in {scene.name for scene in load_lesson(question.lesson, language).scenes}:
        raise ValueError(f"the lesson {question.lesson} has no scene {question.scene!r}")
    return question
