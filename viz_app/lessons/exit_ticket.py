"""The exit ticket: questions on the paper that the class answers at the end, each with the scene that shows it.

`exit_ticket.en.toml` and `exit_ticket.ko.toml` have the same questions in the same order:

    [[question]]
    question = "Why are the dot products divided by √d_k?"
    answer = "So that the softmax ..."
    lesson = "dot_product"
    scene = "scaled"
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from viz_app.lessons.catalogue import LESSONS
from viz_app.lessons.parser import LessonError, load_lesson


@dataclass(frozen=True, kw_only=True)
class ExitQuestion:
    """A question, its answer, and the scene that shows it."""

    question: str
    answer: str
    lesson: str
    scene: str


@cache
def load_exit_ticket(language: str) -> tuple[ExitQuestion, ...]:
    """The questions in a language; none without a file.

    Raises:
        LessonError: The file has another form, or names a scene that does not exist.
    """
    path = Path(__file__).parent / f"exit_ticket.{language}.toml"
    if not path.exists():
        return ()
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))["question"]
        return tuple(_question(entry, language) for entry in entries)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LessonError(f"{path.name}: {error}") from error


def _question(entry: dict[str, str], language: str) -> ExitQuestion:
    found = ExitQuestion(**entry)
    if found.lesson not in {each.name for each in LESSONS}:
        raise ValueError(f"there is no lesson {found.lesson!r}")
    if found.scene not in {scene.name for scene in load_lesson(found.lesson, language).scenes}:
        raise ValueError(f"the lesson {found.lesson} has no scene {found.scene!r}")
    return found
