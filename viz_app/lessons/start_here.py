"""Start here: five scenes for each of three readers, the same in the app and on the site."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection
from contextlib import suppress
from html import escape

from viz_app.components.styles import join_styles
from viz_app.lessons.lesson_markdown import FOLDER, LessonError, load_lesson
from viz_app.text import Texts

READERS = tomllib.loads((FOLDER / "start_here.toml").read_text(encoding="utf-8"))


def start_html(t: Texts, lessons: Collection[str], address: Callable[[str, str], str]) -> str:
    """Return the markup, which `start_style` has the rules for.

    Args:
        t: Labels.
        lessons: Names of the lessons that there are; others are left out.
        address: Returns the address of a lesson's scene.
    """
    readers = ""
    for reader, scenes in READERS.items():
        stops = "".join(_stop(t.language, scene, address) for scene in scenes if scene.partition("/")[0] in lessons)
        readers += f"<details><summary>{escape(t(f'index.reader_{reader}'))}</summary><ol>{stops}</ol></details>"
    return f'<section class="start-here"><h2>{escape(t("index.start_here"))}</h2><div>{readers}</div></section>'


def start_style() -> str:
    """Return the rules, which use the theme's variables."""
    return join_styles(FOLDER / "start_here.css")


def _stop(language: str, stop: str, address: Callable[[str, str], str]) -> str:
    """Return the link to a scene; nothing where a teacher's own edition has no such scene."""
    name, _, scene = stop.partition("/")
    with suppress(LessonError):
        lesson = load_lesson(name, language)
        for title in (each.title for each in lesson.scenes if each.name == scene):
            link = f'<a class="card" href="{escape(address(name, scene))}" data-card="{stop}">{escape(title)}</a>'
            return f"<li>{link} <small>{escape(lesson.title)}</small></li>"
    return ""
