"""Words of a lesson on paper, as HTML; the page draws each scene in its `<figure data-scene>`."""

from __future__ import annotations

from html import escape

from viz_app.lessons import Lesson, Scene, load_lesson
from viz_app.lessons.html import html_of, to_html
from viz_app.text import Texts


def lesson_paper(words: Lesson, t: Texts) -> str:
    """Render a lesson: title, scenes, and the answers on a page of their own.

    Args:
        words: Of the lesson, with the scenes that are printed.
        t: Labels in the same language.
    """
    scenes = scene_sections(words, t) + answers_of(words, t("handout.answers"))
    return f"<h1>{escape(words.title)}</h1><p>{escape(words.summary)}</p>{scenes}"


def scene_sections(words: Lesson, t: Texts) -> str:
    """Render the scenes with their words, equations, figures and questions, without what is for the screen."""
    printed = {scene.name: scene for scene in load_lesson(words.name, words.language, on_paper=True).scenes}
    return "".join(_section(words.name, printed[scene.name], t) for scene in words.scenes)


def _section(lesson: str, scene: Scene, t: Texts) -> str:
    section = f"{t('lesson.section')} {scene.section}"
    figure = f'<figure data-lesson="{lesson}" data-scene="{scene.name}"></figure>'
    return (
        f'<section class="scene"><h2>{escape(scene.title)}</h2><p class="quiet">{escape(section)}</p>'
        f"{html_of(scene.prose)}{equations(scene)}{figure}{choices(scene)}</section>\n"
    )


def equations(scene: Scene) -> str:
    """Render the equations of a scene."""
    return "".join(f'<div class="equation">{to_html(line)}</div>' for line in scene.math)


def choices(scene: Scene) -> str:
    """Render the choices of a scene's question with boxes, or lines to write on; empty without a question."""
    if scene.question is None:
        return ""
    boxes = "".join(f"<li>{html_of(choice.text)}</li>" for choice in scene.question.choices)
    return f'<ul class="choices">{boxes}</ul>' if boxes else '<div class="lines"></div>' * 3


def answers_of(words: Lesson, title: str) -> str:
    """Render the answers of a lesson on a page of their own; empty for a lesson without questions."""
    parts = []
    for scene in words.scenes:
        if scene.question is not None:
            right = (f"<p><strong>{html_of(each.text)}</strong></p>" for each in scene.question.choices if each.right)
            parts.append(f"<h2>{escape(scene.title)}</h2>{''.join(right)}{html_of(scene.question.answer)}")
    return f'<section class="answers"><h1>{escape(title)}</h1>{"".join(parts)}</section>' if parts else ""
