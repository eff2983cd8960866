"""Lesson on paper: one HTML file with its words, figures and questions, and the answers on a page of their own."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Sequence
from functools import cache
from html import escape, unescape
from pathlib import Path

from viz_app.export import checkpoint_name
from viz_app.figures import Style, export
from viz_app.lessons import Lesson, Scene, load_lesson
from viz_app.lessons.context import LessonContext
from viz_app.lessons.html import to_html
from viz_app.lessons.module import lesson_module
from viz_app.serving.models.registry import display_name

_FONT = Path(__file__).parents[1] / "static" / "fonts" / "STIXTwoMath.woff2"
_STYLE = """
@page { size: A4; margin: 18mm 16mm; }
* { box-sizing: border-box; }
body { max-width: 178mm; margin: 0 auto; padding: 16px; color: #14171a; background: #fff; font: 11pt/1.5 sans-serif; }
:lang(ko) { word-break: keep-all; }
h1 { font-size: 20pt; line-height: 1.25; margin: 0 0 4pt; }
h2 { font-size: 13pt; margin: 0 0 2pt; }
p { margin: 0 0 6pt; }
dfn { font-style: normal; }
.quiet { color: #5b6270; font-size: 9.5pt; }
.scene { margin-top: 18pt; break-inside: avoid; }
.scene img { display: block; max-width: 100%; margin: 8pt 0; }
math { font-family: "STIX Two Math", "Cambria Math", math; font-size: 12pt; }
.equation { margin: 4pt 0 8pt; }
.choices { list-style: none; padding: 0; margin: 6pt 0; }
.choices li::before { content: "☐\\00a0\\00a0"; }
.lines { border-bottom: 1px solid #b8bcc4; height: 22pt; }
.answers, .stop { break-before: page; margin-top: 24pt; }
.sheet .answers { break-before: auto; break-inside: avoid; }
.sheet .answers:last-child { break-before: page; break-inside: auto; }
.timetable { border-collapse: collapse; width: 100%; }
.timetable td { padding: 5pt 6pt; border-bottom: 1px solid #dcdcd6; vertical-align: top; }
.timetable td:last-child { text-align: right; white-space: nowrap; }
h1, h2 { break-after: avoid; }
li, tr, .equation { break-inside: avoid; }
@page brief { margin: 12mm 16mm; }
@media print { body { padding: 0; } }
body:has(.brief) { page: brief; }
.brief { font-size: 9pt; line-height: 1.4; }
.brief h2 { font-size: 10.5pt; }
.brief p, .brief .equation { margin: 0 0 4pt; }
.brief math { font-size: 10pt; }
.brief .answers { break-before: auto; break-inside: avoid; margin-top: 0; }
.brief .answers h1 { font-size: 14pt; }
.points section { break-inside: avoid; }
.points, .brief ol { columns: 2; column-gap: 9mm; }
.brief ol { padding-left: 14pt; }
.brief .choices { margin: 0 0 8pt; }
.brief .choices li { display: inline-block; margin-right: 8pt; }
footer { margin-top: 24pt; border-top: 1px solid #dcdcd6; padding-top: 6pt; }
"""


def render_handout(name: str, context: LessonContext) -> bytes:
    """Render the handout of a lesson as one self-contained file, UTF-8.

    Args:
        name: Of the lesson.
        context: Sentence for the figures, and labels in the reader's language. Each scene is drawn with its first
            settings, except the one in `context.state`.

    Raises:
        KeyError: There is no such lesson.
        Superseded: The same session has asked for the handout of this lesson again.
    """
    # Made in a thread beside the page: neither may take the other's turn at the model.
    context = dataclasses.replace(context, session=f"{context.session}:handout:{name}")
    t = context.t
    words = load_lesson(name, t.language, on_paper=True)
    scenes = "".join(scene_section(words, scene, context) for scene in words.scenes)
    return handout_page(words.title, words.summary, scenes + answers_of(words, t("handout.answers")), context)


def handout_page(title: str, about: str, body: str, context: LessonContext) -> bytes:
    """Build a self-contained page that every computer prints alike; `body` is HTML, the rest plain text."""
    from viz_app.figures.mpl.renderer import page_fonts  # with matplotlib, which takes seconds to import

    t, translator = context.t, context.service.translator
    made_from = t("handout.made", sentence=context.text) if "<img" in body else ""
    names = [checkpoint_name(translator), translator.checkpoint_hash[:12]]
    if (spoken := context.service.card.languages) is not None:
        names.insert(0, display_name(t, "", spoken))
    origin = ", ".join(name for name in names if name)
    font = f'@font-face {{ font-family: "STIX Two Math"; src: url(data:font/woff2;base64,{_font()}) }}'
    shown = f"{_STYLE}{title}{about}{made_from}{body}{t('handout.model')}{origin} Headlight ·\u00a0"
    return f"""<!doctype html>
<html lang="{t.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{font}{_STYLE}{page_fonts(unescape(shown))}</style>
</head>
<body>
<h1>{escape(title)}</h1>
<p>{escape(about)}</p>
<p class="quiet">{escape(made_from)}</p>
{body}
<footer class="quiet">Headlight · {escape(t("handout.model"))} {escape(origin)}</footer>
</body>
</html>
""".encode()


def scene_section(words: Lesson, scene: Scene, context: LessonContext) -> str:
    """Render a scene with its words, equation, figure and question as HTML."""
    section = f"{context.t('lesson.section')} {scene.section}"
    return (
        f'<section class="scene"><h2>{escape(scene.title)}</h2><p class="quiet">{escape(section)}</p>'
        f"{_html(scene.prose)}{equations(scene)}{_picture(words, scene, context)}{choices(scene)}</section>\n"
    )


def _picture(words: Lesson, scene: Scene, context: LessonContext) -> str:
    state, module = context.state, lesson_module(words.name)
    if scene.question is not None and scene.name not in module.evidence:
        return ""  # the figure would give the answer away
    if state.scene != scene.name:
        state = dataclasses.replace(state, scene=scene.name, settings={})
    drawn = module.figure(scene.name, dataclasses.replace(context, state=state))
    if drawn is None:
        return ""
    svg = base64.b64encode(export(drawn, "svg", Style(width_mm=170.0))).decode()
    return f'<img alt="{escape(drawn.alt or scene.title)}" src="data:image/svg+xml;base64,{svg}">'


def equations(scene: Scene) -> str:
    """Render the equations of a scene as HTML."""
    return "".join(f'<div class="equation">{to_html(line)}</div>' for line in scene.math)


def choices(scene: Scene) -> str:
    """Render the choices of a scene's question with boxes, or lines to write on; empty without a question."""
    if scene.question is None:
        return ""
    boxes = "".join(f"<li>{_html(choice.text)}</li>" for choice in scene.question.choices)
    return f'<ul class="choices">{boxes}</ul>' if boxes else '<div class="lines"></div>' * 3


def answers_of(words: Lesson, title: str) -> str:
    """Render the answers of a lesson on a page of their own; empty for a lesson without questions."""
    questioned = [scene for scene in words.scenes if scene.question is not None]
    if not questioned:
        return ""
    parts = []
    for scene in questioned:
        assert scene.question is not None
        right = "".join(
            f"<p><strong>{_html(choice.text)}</strong></p>" for choice in scene.question.choices if choice.right
        )
        parts.append(f"<h2>{escape(scene.title)}</h2>{right}{_html(scene.question.answer)}")
    return f'<section class="answers"><h1>{escape(title)}</h1>{"".join(parts)}</section>'


def _html(nodes: Sequence[object]) -> str:
    return "".join(map(to_html, nodes))


@cache
def _font() -> str:
    """Return the font of the equations, base64."""
    return base64.b64encode(_FONT.read_bytes()).decode()
