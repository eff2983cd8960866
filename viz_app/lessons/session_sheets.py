"""Words of a session on paper, as HTML: without answers for the class, in full or on two pages; a teacher's sheet."""

from __future__ import annotations

from html import escape
from typing import Literal

from viz_app.lessons import Lesson, load_lesson
from viz_app.lessons.catalogue import QUESTIONS, ROUTE
from viz_app.lessons.exit_ticket import load_exit_ticket
from viz_app.lessons.handout import answers_of, choices, equations, scene_sections
from viz_app.lessons.html import html_of, prose_html
from viz_app.lessons.labels import teacher_note
from viz_app.text import Texts

Sheet = Literal["class", "brief", "teacher"]
SHEETS: tuple[Sheet, ...] = ("class", "brief", "teacher")
STOPS = tuple(name for name in ROUTE if name not in ("translate", QUESTIONS))  # those that are lessons


def sheet_paper(sheet: Sheet, t: Texts) -> str:
    """Render a sheet.

    Args:
        sheet: "class" has words, figures and questions of every stop; "brief" the equations and questions of every
            stop, on two pages; "teacher" minutes, notes and answers.
        t: Labels in the reader's language.
    """
    lessons = [load_lesson(name, t.language, on_paper=True) for name in STOPS]
    title = t("handout.session_teacher") if sheet == "teacher" else t("handout.session")
    if sheet == "class":
        body = _timetable(t, lessons, notes=False) + "".join(_stop(words, t) for words in lessons)
        body += _exit_ticket(t, answers=False)
    elif sheet == "brief":
        points = "".join(_core(words) for words in lessons)
        body = f'<div class="brief"><div class="points">{points}</div>{_exit_ticket(t, answers=False)}</div>'
    else:
        answers = "".join(answers_of(words, words.title) for words in lessons) + _exit_ticket(t, answers=True)
        body = f'{_timetable(t, lessons, notes=True)}<div class="sheet">{answers}</div>'
    return f"<h1>{escape(title)}</h1><p>{escape(t('handout.session_about'))}</p>{body}"


def _timetable(t: Texts, lessons: list[Lesson], *, notes: bool) -> str:
    titles = {words.name: words.title for words in lessons}
    rows = []
    for number, (name, minutes) in enumerate(ROUTE.items(), start=1):
        title = titles.get(name) or t(f"index.stop_{name}")
        note = teacher_note(t.language, name) if notes else ""
        about = f"<br>{escape(note)}" if note else ""
        time = t("index.minutes", minutes=minutes)
        rows.append(
            f"<tr><td>{number}</td><td><strong>{escape(title)}</strong>{about}</td><td>{escape(time)}</td></tr>"
        )
    total = t("index.minutes", minutes=sum(ROUTE.values()))
    return f'<p>{escape(total)}</p><table class="timetable">{"".join(rows)}</table>'


def _stop(words: Lesson, t: Texts) -> str:
    minutes = t("index.minutes", minutes=ROUTE[words.name])
    return (
        f'<section class="stop"><h1>{escape(words.title)}</h1><p>{escape(words.summary)}</p>'
        f'<p class="quiet">{escape(minutes)}</p>{scene_sections(words, t)}</section>'
    )


def _core(words: Lesson) -> str:
    """Render the equations of the scenes that the exit ticket names, and the last question of the stop."""
    names = {each.scene for each in load_exit_ticket(words.language) if each.lesson == words.name}
    parts = "".join(equations(scene) for scene in words.scenes if scene.name in names)
    for scene in [scene for scene in words.scenes if scene.question is not None][-1:]:
        parts += html_of(scene.prose) + choices(scene)
    return f"<section><h2>{escape(words.title)}</h2>{parts}</section>"


def _exit_ticket(t: Texts, *, answers: bool) -> str:
    parts = []
    for each in load_exit_ticket(t.language):
        words = load_lesson(each.lesson, t.language)
        scene = next(scene.title for scene in words.scenes if scene.name == each.scene)
        place = f'<p class="quiet">{escape(words.title)}: {escape(scene)}</p>'
        below = f"<p>{prose_html(each.answer, t.language)}</p>{place}" if answers else '<div class="lines"></div>' * 2
        parts.append(f"<li><p><strong>{prose_html(each.question, t.language)}</strong></p>{below}</li>")
    return f'<section class="answers"><h1>{escape(t("questions.ticket"))}</h1><ol>{"".join(parts)}</ol></section>'
