"""Pages of the site that are text: lessons, questions and terms, as markup for their templates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from viz_app.lessons import Lesson
from viz_app.lessons.catalogue import CHAPTERS, LESSONS, ROUTE
from viz_app.lessons.exit_ticket import load_exit_ticket
from viz_app.lessons.html import html_of, prose_html
from viz_app.lessons.index import Stop
from viz_app.lessons.lesson_markdown import Scene
from viz_app.lessons.start_here import start_html
from viz_app.standalone.site_frame import link
from viz_app.text import Texts
from viz_app.text.glossary import by_letter


def lessons_markup(
    t: Texts, route: Sequence[Stop], others: Sequence[Stop], words: Mapping[str, Lesson]
) -> dict[str, str]:
    """Return the route and the other lessons by chapter, each with a place for the reader's progress."""
    by_name = {stop.name: stop for stop in others}
    chapters = {
        chapter: [by_name[each.name] for each in LESSONS if each.chapter == chapter and each.name in by_name]
        for chapter in CHAPTERS
    }
    listed = "".join(
        f'<h2>{escape(t(f"lessons.chapter_{chapter}"))}</h2><ul class="others">{_stops(t, stops, words)}</ul>'
        for chapter, stops in chapters.items()
        if stops
    )
    start = link(f"{route[0].name}.html", t("index.start"), ' class="start"')
    return {
        "start_here": start_html(t, words, "{}.html?scene={}".format),
        "minutes": _minutes(t, sum(ROUTE.values())),
        "start": start,
        "route": _stops(t, route, words),
        "others": listed,
    }


def questions_markup(t: Texts, words: Mapping[str, Lesson]) -> dict[str, str]:
    """Return the exit ticket, and each question of a scene with what is said of each choice."""
    ticket = "".join(
        f"<li><details><summary>{prose_html(each.question, t.language)}</summary>"
        f"<p>{prose_html(each.answer, t.language)}</p>"
        f"{link(f'{each.lesson}.html?scene={each.scene}', words[each.lesson].title)}</details></li>"
        for each in load_exit_ticket(t.language)
    )
    predictions = "".join(
        f"<li>{link(f'{name}.html?scene={scene.name}', f'{lesson.title}: {scene.title}')}"
        f'<div data-lesson="{name}" data-scene="{scene.name}">{"".join(_verdicts(t, scene))}</div></li>'
        for name, lesson in words.items()
        for scene in lesson.scenes
        if scene.question is not None and scene.question.choices
    )
    return {"ticket": ticket, "predictions": predictions}


def glossary_markup(t: Texts) -> dict[str, str]:
    """Return the terms that explain themselves, below their first letters, and links to those."""
    entry = '<div id="{}"><dt>{}</dt><dd>{}</dd></div>'
    letters, groups = "", ""
    for number, (letter, group) in enumerate(by_letter(t.language).items()):
        words = ((term.name, term.word(t.language, first=True), term.about[t.language]) for term in group)
        terms = "".join(entry.format(*map(escape, each)) for each in words)
        letters += link(f"#letter-{number}", letter)
        groups += f'<section><h2 id="letter-{number}">{letter}</h2><dl>{terms}</dl></section>'
    return {"letters": letters, "terms": groups}


def _stops(t: Texts, stops: Sequence[Stop], words: Mapping[str, Lesson]) -> str:
    seen = escape(t.table("site")["seen"])
    lines = []
    for stop in stops:
        scenes = " ".join(scene.name for scene in words[stop.name].scenes) if stop.name in words else ""
        progress = (
            f'<span class="progress" data-lesson="{stop.name}" data-scenes="{scenes}" data-words="{seen}"></span>'
        )
        lines.append(
            f'<li><a class="stop" href="{stop.name}.html"><span class="title">{escape(stop.title)}</span>'
            f'<span class="minutes">{_minutes(t, stop.minutes) if stop.minutes else ""}</span>'
            f'<span class="about">{escape(stop.about)}</span>{progress if scenes else ""}</a></li>'
        )
    return "".join(lines)


def _verdicts(t: Texts, scene: Scene) -> Iterable[str]:
    """Yield what is said of each choice of a question, hidden."""
    assert scene.question is not None
    right = next(each for each in scene.question.choices if each.right)
    for choice in scene.question.choices:
        mark, answer = ("✓", "") if choice.right else ("✗", f"<br>{t('questions.right')} {html_of(right.text)}")
        yield f"<p hidden>{mark} {t('questions.yours')} {html_of(choice.text)}{answer}</p>"


def _minutes(t: Texts, count: int) -> str:
    return t("index.minutes", minutes=count)
