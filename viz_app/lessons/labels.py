"""Labels of the lessons, from `labels.en.toml` and `labels.ko.toml` in their folders, with plain keys.

The label `length` of the lesson `why` is `t("lesson_why.length")`; its JavaScript reads `texts.length`.
"""

from __future__ import annotations

import tomllib
from contextlib import suppress
from functools import cache
from pathlib import Path

from viz_app.lessons.catalogue import STAGES
from viz_app.lessons.lesson_markdown import LessonError, bench_folders
from viz_app.text import LANGUAGES, Texts, parser_wording, texts

_FOLDER = Path(__file__).parent


@cache
def labels(language: str, *, parses: bool = False) -> Texts:
    """Return all labels of the app and the lessons; a lesson with an invalid file has none here.

    Args:
        language: One of LANGUAGES.
        parses: Whether they speak of trees, for a parser.

    Raises:
        ValueError: The app does not speak this language.
    """
    if parses:
        return labels(language).reworded(parser_wording(language))
    tables = {}
    for name in STAGES:
        with suppress(LessonError):  # the page of this lesson shows the error
            tables[f"lesson_{name}"] = read_labels(name, language)
    return texts(language).with_tables(tables)


def teacher_note(language: str, stop: str) -> str:
    """Return what a teacher does at a stop of the route; "" for a lesson without a note."""
    t = labels(language)
    if stop not in STAGES:
        return t(f"handout.note_{stop}")
    return t(f"lesson_{stop}.teacher_note") if "teacher_note" in t.table(f"lesson_{stop}") else ""


def read_labels(name: str, language: str) -> dict[str, str]:
    """Read the labels of one lesson; none where no language has a file.

    Raises:
        LessonError: The file is missing in this language only, or is not valid TOML.
    """
    labels: dict[str, str] = {}
    for folder in (_FOLDER / name, *bench_folders(_FOLDER / name)):
        path = folder / f"labels.{language}.toml"
        if not any((folder / f"labels.{each}.toml").is_file() for each in LANGUAGES):
            continue
        try:
            labels |= tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise LessonError(f"{path.relative_to(_FOLDER)}: {error}") from error
    return labels
