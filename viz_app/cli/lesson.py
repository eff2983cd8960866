r"""Write the figure of a lesson's scene, or the lesson's handout.

A figure is a .pdf, .svg, .png, .tex, .gif, .csv, .npz or .json; some formats exist only for some scenes: a
.gif only where something moves. It has the style options of the command export and holds its command; for a CSV it
is in a .csv.json beside it.

Without --scene the handout is written as .html: words, figures and questions, with the answers on the last page.
--lesson session writes the handout of the whole route, with --brief its equations and questions on two pages, with
--teacher its notes, minutes and answers.

Example:
  python -m viz_app lesson --checkpoint checkpoints/en-de --lesson positions --scene waves \
      --with at:3,part:cos --preset acl-column --out waves.pdf --out waves.gif

  python -m viz_app lesson --checkpoint checkpoints/en-de --lesson positions \
      --language ko --out handout.html
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from transformer_core.cli.arguments import Options, Parser, UsageError
from transformer_core.storage.files import atomic_write_bytes
from viz_app.cli.export import write
from viz_app.export.figure_arguments import (
    add_language,
    add_style,
    add_targets,
    check_dpi,
    parse_targets,
    style_from_options,
    validate_choice,
)
from viz_app.figures import formats_of
from viz_app.figures.model.style import Style
from viz_app.lessons import load_lesson
from viz_app.lessons.catalogue import STAGES

if TYPE_CHECKING:
    from viz_app.lessons.context import LessonContext
    from viz_app.lessons.stage.state import LessonState
    from viz_app.serving.models.translation_service import TranslationService

log = logging.getLogger(__name__)

SESSION = "command"
SESSION_NAME = "session"  # instead of a lesson: all stops of the route


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    parser.set_usage("--checkpoint DIR --lesson NAME [--scene NAME [--with SETTINGS]] [--text TEXT] --out FILE ...")
    parser.add_checkpoint()
    lessons = (*STAGES, SESSION_NAME)
    parser.add_choice("--lesson", lessons, f"The lesson, or {SESSION_NAME} for all.", form="NAME", required=True)
    parser.add_argument("--teacher", action="store_true", help="Of a session: the sheet with notes and answers.")
    parser.add_argument("--brief", action="store_true", help="Of a session: two pages.")
    parser.add_argument("--scene", metavar="NAME", help="The scene; the handout unless given.")
    parser.add_argument("--with", metavar="LIST", help="Settings of the scene, as in its link: at:5,part:cos.")
    parser.add_argument("--text", metavar="TEXT", help="The sentence; an example unless given.")
    add_language(parser)
    add_style(parser)
    add_targets(parser)


def run(options: Options) -> int:
    """Write the file."""
    whole = options.lesson == SESSION_NAME
    if whole and options.scene:
        raise UsageError("--scene needs one lesson; a session has the handout only")
    sheets = [f"--{sheet}" for sheet in ("brief", "teacher") if getattr(options, sheet)]
    if sheets and not whole:
        raise UsageError(f"{sheets[0]} is only for --lesson {SESSION_NAME}")
    if len(sheets) > 1:
        raise UsageError(f"{' and '.join(sheets)} are two files")
    formats = parse_targets(options)
    return _picture(options, formats) if options.scene else _handout(options, formats)


def _handout(options: Options, formats: dict[Path, str]) -> int:
    if list(formats.values()) != ["html"]:
        names = ", ".join(map(str, formats))
        raise UsageError(f"--out is {names!r}, but a handout is an .html file; add --scene for a figure")
    if style_from_options(options) != Style() or options.dpi is not None or getattr(options, "with"):
        raise UsageError("a handout has its own style; add --scene, or omit the style options")
    from viz_app.lessons.handout import render_handout
    from viz_app.lessons.route_handout import Sheet, render_route

    (out,) = formats
    if options.lesson == SESSION_NAME:
        sheet: Sheet = "teacher" if options.teacher else "brief" if options.brief else "class"
        data = render_route(sheet, _context(options))
    else:
        data = render_handout(options.lesson, _context(options))
    atomic_write_bytes(out, data)
    log.info("%s", out)
    return 0


def _picture(options: Options, formats: dict[Path, str]) -> int:
    from viz_app.lessons.module import lesson_module
    from viz_app.lessons.scene_figure import figure_with_provenance
    from viz_app.lessons.stage.state import LessonState

    scene = LessonState(options.scene).scene
    validate_choice("--scene", scene, tuple(each.name for each in load_lesson(options.lesson, options.language).scenes))
    style = style_from_options(options)
    check_dpi(options, tuple(formats.values()))
    context = _context(options)
    lesson_module(options.lesson).prepare(scene, context)
    drawn = figure_with_provenance(options.lesson, context)
    if drawn is None:
        raise UsageError(f"--scene: the scene {options.scene} has no printable figure")
    for format in formats.values():
        validate_choice("--out", format, formats_of(drawn))
    return write([(drawn, formats)], style, options)


def _context(options: Options) -> LessonContext:
    from viz_app.lessons.stage.state import LessonState, settings_from_param, unreadable_parts

    given = getattr(options, "with") or ""
    if wrong := unreadable_parts(given):
        raise UsageError(
            f"--with is {given!r}, but {wrong[0]!r} is not a setting; write it as in a scene's link: at:5,part:cos"
        )
    state = LessonState(options.scene or "", settings_from_param(given))
    return lesson_context(load_service(options.checkpoint), options.text, options.language, state)


def load_service(checkpoint: str) -> TranslationService:
    """Load a model on one thread, so that the same command gives the same bytes."""
    import torch

    from transformer_core.translator import Translator
    from viz_app.serving.models.translation_service import TranslationService
    from viz_app.serving.scheduling.request_queue import RequestQueue

    torch.set_num_threads(1)
    name = Path(checkpoint).resolve().name
    return TranslationService(Translator.load(checkpoint, device="cpu"), RequestQueue(1), name=name)


def lesson_context(service: TranslationService, given: str | None, language: str, state: LessonState) -> LessonContext:
    """Return a lesson with a sentence. Raises UsageError for one that the model cannot read."""
    from viz_app.lessons.context import LessonContext
    from viz_app.lessons.scene_figure import fit_sentence

    text = fit_sentence(given or "", service)
    if given and text != " ".join(given.split()):
        raise UsageError(f"--text is {given!r}, but must be a sentence that the model can read")
    return LessonContext(text, state, language, lambda: service, SESSION)
