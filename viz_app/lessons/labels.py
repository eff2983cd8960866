"""The labels of the lessons, which lie in their folders: `labels.en.toml` and `labels.ko.toml`, plain keys.

The label `length` of the lesson `why` is asked for as `t("lesson_why.length")`; its JavaScript reads `texts.length`.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from viz_app.lessons.catalogue import LESSONS
from viz_app.text import Texts, texts

_FOLDER = Path(__file__).parent


@cache
def labels(language: str) -> Texts:
    """All labels of the app with those of the lessons, read once.

    Raises:
        ValueError: The app does not speak this language, or a file of labels is missing or is no TOML.
    """
    tables = {}
    for entry in LESSONS:
        path = _FOLDER / entry.name / f"labels.{language}.toml"
        try:
            tables[f"lesson_{entry.name}"] = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ValueError(f"{entry.name}/{path.name} cannot be read: {error}") from error
    return texts(language).with_tables(tables)
