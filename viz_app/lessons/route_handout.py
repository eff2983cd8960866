"""Route on paper: for the class a file without answers, or two pages of it; for the teacher a sheet with them."""

from __future__ import annotations

import dataclasses
from contextlib import nullcontext
from html import escape
from typing import Literal

from viz_app.export.bundle import Turn
from viz_app.lessons import Lesson, load_lesson
from viz_app.lessons.catalogue import QUESTIONS, ROUTE
from viz_app.lessons.context import LessonContext
from viz_app.lessons.exit_ticket import load_exit_ticket
from viz_app.lessons.handout import answers_of, choices, equations, handout_page, scene_section
from viz_app.lessons.html import to_html
from viz_app.lessons.labels import teacher_note
from viz_app.lessons.lesson_markdown import inline
from viz_app.text import Texts

Sheet = Literal["class", "brief", "teacher"]
SHEETS: tuple[Sheet, ...] = ("class", "brief", "teacher")


def render_route(sheet: Sheet, context: LessonContext, turn: Turn = nullcontext) -> bytes:
    """Render the self-contained file, UTF-8.

    Args:
        sheet: "class" has words, figures and questions of every stop; "brief" the equations and questions of
            every stop, on two pages; "teacher" minutes, notes and answers.
        context: Sentence for the figures, and labels in the reader's language.
        turn: Entered for each scene, so that others draw between two of them.

    Raises:
        Superseded: The same visitor has asked for this file again.
    """
    context = dataclasses.replace(context, session=f"{context.session}:route:{sheet}")
    t = context.t
    lessons = [load_lesson(name, t.language, on_paper=True) for name in ROUTE if name not in ("translate", QUESTIONS)]
    title = t("handout.session_teacher") if sheet == "teacher" else t("handout.session")
    if sheet == "class":
        body = _timetable(t, lessons, notes=False) + "".join(_stop(words, context, turn) for words in lessons)
        body += _exit_ticket(t, answers=False)
    elif sheet == "brief":
        points = "".join(_core(words) for words in lessons)
        body = f'<div class="brief"><div class="points">{points}</div>{_exit_ticket(t, answers=False)}</div>'
    else:
        body = _timetable(t, lessons, notes=True)
        answers = "".join(answers_of(words, words.title) for words in lessons) + _exit_ticket(t, answers=True)
        body += f'<div class="sheet">{answers}</div>'
    return handout_page(title, t("handout.session_about"), body, context)


def _timetable(t: Texts, lessons: list[Lesson], *, notes: bool) -> str:
    titles = {words.name: words.title for words in lessons}
    rows = []
    for number, (name, minutes) in enumerate(ROUTE.items(), start=1):
        title = titles.get(name) or t(f"index.stop_{name}")
        note = teacher_note(t.language, name) if notes else ""
        about = f"<br>{escape(note)}" if note else ""
        time = f"{minutes}\u202f{t('index.minutes')}"
        rows.append(
            f"<tr><td>{number}</td><td><strong>{escape(title)}</strong>{about}</td><td>{escape(time)}</td></tr>"
        )
    total = f"{sum(ROUTE.values())}\u202f{t('index.minutes')}"
    return f'<p>{escape(total)}</p><table class="timetable">{"".join(rows)}</table>'


def _stop(words: Lesson, context: LessonContext, turn: Turn) -> str:
    scenes = []
    for scene in words.scenes:
        with turn():
            scenes.append(scene_section(words, scene, context))
    minutes = f"{ROUTE[words.name]}\u202f{context.t('index.minutes')}"
    return (
        f'<section class="stop"><h1>{escape(words.title)}</h1><p>{escape(words.summary)}</p>'
        f'<p class="quiet">{escape(minutes)}</p>{"".join(scenes)}</section>'
    )


def _core(words: Lesson) -> str:
    """Render what a stop is about, the equations of the scenes that the exit ticket names, and its last question."""
    asked = {each.scene for each in load_exit_ticket(words.language) if each.lesson == words.name}
    shown = "".join(equations(scene) for scene in words.scenes if scene.name in asked)
    for scene in [scene for scene in words.scenes if scene.question is not None][-1:]:
        shown += "".join(map(to_html, scene.prose)) + choices(scene)
    return f'<section><h2>{escape(words.title)}</h2><p class="quiet">{escape(words.summary)}</p>{shown}</section>'


def _exit_ticket(t: Texts, *, answers: bool) -> str:
    parts = []
    for each in load_exit_ticket(t.language):
        words = load_lesson(each.lesson, t.language)
        scene = next(scene.title for scene in words.scenes if scene.name == each.scene)
        below = (
            f'<p>{prose_html(each.answer, t)}</p><p class="quiet">{escape(words.title)}: {escape(scene)}</p>'
            if answers
            else '<div class="lines"></div>' * 2
        )
        parts.append(f"<li><p><strong>{prose_html(each.question, t)}</strong></p>{below}</li>")
    return f'<section class="answers"><h1>{escape(t("questions.ticket"))}</h1><ol>{"".join(parts)}</ol></section>'


def prose_html(text: str, t: Texts) -> str:
    """Return a line of prose as HTML."""
    return "".join(map(to_html, inline(text, t.language)))
