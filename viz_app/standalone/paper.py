"""Paper: what a lesson's page prints, and sheets of a session, which hold nothing else.

The words are HTML; each `<figure>` gets the drawing of its scene from `js/paper.js`, as the stage draws it. The fonts
of both lie in the page, so that every computer prints it alike.
"""

from __future__ import annotations

import dataclasses
from contextlib import nullcontext
from dataclasses import dataclass
from html import escape
from pathlib import Path

from viz_app.components.html_document import html_document, json_element, packed_element
from viz_app.components.modules import join_modules, self_starting
from viz_app.export import checkpoint_name
from viz_app.export.bundle import Turn
from viz_app.lessons.context import LessonContext
from viz_app.lessons.session_sheets import STOPS, Sheet, sheet_paper
from viz_app.lessons.stage import lesson_code
from viz_app.serving.models.registry import display_name
from viz_app.standalone.page_font import font_style, math_style

ALLOWED = {"img-src": "'self' data:", "font-src": "'self' data:"}  # further sources of a page with paper
_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Paper:
    """Element for the end of a page's body, and its rules."""

    markup: str
    style: str


def paper(body: str, context: LessonContext) -> Paper:
    """Return the paper of a page.

    Args:
        body: Its words as HTML.
        context: The sentence of its figures, the model, and labels in the reader's language.
    """
    t, translator = context.t, context.service.translator
    names = [checkpoint_name(translator), translator.checkpoint_hash[:12]]
    if (languages := context.service.card.languages) is not None:
        names.insert(0, display_name(t, "", languages))
    made_from = f'<p class="quiet">{escape(t("handout.made", sentence=context.text))}</p>' if "<figure" in body else ""
    origin = f"Headlight · {t('handout.model')} {', '.join(filter(None, names))}"
    markup = f'<article class="paper">{made_from}{body}<footer class="quiet">{escape(origin)}</footer></article>'
    rules = (_FOLDER / "paper.css").read_text(encoding="utf-8")
    return Paper(markup, math_style() + rules)


def render_sheet(sheet: Sheet, context: LessonContext, turn: Turn = nullcontext) -> bytes:
    """Return a sheet of a session as a page; the same arguments give the same bytes.

    Args:
        sheet: See `sheet_paper`.
        context: Sentence for the figures, and labels in the reader's language.
        turn: Entered for each scene, so that others draw between two of them.

    Raises:
        PageTooLarge: The arrays are too large.
        Superseded: The same visitor has asked for this sheet again.
    """
    from viz_app.standalone.lessons import prepare_lesson

    context = dataclasses.replace(context, session=f"{context.session}:sheet:{sheet}")
    names = STOPS if sheet == "class" else ()
    lessons = {name: prepare_lesson(name, context, first=True, turn=turn) for name in names}
    scripts = [*map(lesson_code, names), join_modules(_FOLDER / "js" / "paper_page.js")] if names else []
    blocks = {f"lesson_{name}": each.data for name, each in lessons.items()}
    for each in lessons.values():
        blocks |= each.blocks
    on_paper = paper(sheet_paper(sheet, context.t), context)
    data = [json_element("page", {}), *(packed_element(*block) for block in blocks.items())]
    title = context.t("handout.session_teacher" if sheet == "teacher" else "handout.session")
    return html_document(
        title,
        style=font_style(context.language) + on_paper.style,
        body="\n".join([on_paper.markup, *(data if names else [])]),
        scripts=[*map(self_starting, scripts)],
        language=context.language,
        head='\n<meta name="viewport" content="width=device-width, initial-scale=1">',
        type="module",
        allowed=ALLOWED,
    ).encode("utf-8", errors="replace")
