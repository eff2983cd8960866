"""lesson: the picture of a scene, or the handout of a whole lesson."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from transformer_core.cli.options import Parser, UsageError, add_checkpoint, existing
from transformer_core.files import replace_bytes
from viz_app.export.options import add_style, check_dpi, format_of, one_of, style_of
from viz_app.services.lessons.catalogue import LESSONS
from viz_app.text import LANGUAGES

if TYPE_CHECKING:
    from viz_app.services.lessons.context import Context

log = logging.getLogger(__name__)

SESSION = "command"


def parser() -> Parser:
    """The options of this command."""
    names = ", ".join(entry.name for entry in LESSONS)
    result = Parser(
        "lesson",
        package="viz_app",
        usage="--checkpoint DIR --lesson NAME [--scene NAME [--with SETTINGS]] [--text TEXT] --out FILE",
        description=(
            "Write the picture of a scene as .pdf, .svg, .png, .tex, .html, .csv, .npz or .json, or, without --scene,\n"
            "the handout of the lesson as .html: its words, pictures and questions, with the answers on the last page."
        ),
        example=(
            "  python -m viz_app lesson --checkpoint checkpoints/en-de --lesson positions \\\n"
            "      --scene waves --out waves.pdf\n\n"
            "  python -m viz_app lesson --checkpoint checkpoints/en-de --lesson positions \\\n"
            "      --language ko --out handout.html"
        ),
    )
    add_checkpoint(result)
    result.add_argument("--lesson", type=str, required=True, metavar="NAME", help=f"{names}.")
    result.add_argument("--scene", type=str, metavar="NAME", help="The scene; the handout unless given.")
    result.add_argument(
        "--with", type=str, metavar="LIST", help="Settings of the scene, as in its link: at:5,part:cos."
    )
    result.add_argument("--text", type=str, metavar="TEXT", help="The sentence; an example unless given.")
    result.add_argument("--language", type=str, default="en", metavar="CODE", help=f"{', '.join(LANGUAGES)}.")
    add_style(result)
    result.add_argument("--out", type=str, required=True, metavar="FILE", help="The file; its ending says the format.")
    result.add_argument("--force", action="store_true", help="Replace a file that is there.")
    return result


def run(arguments: Sequence[str]) -> int:
    """Write the file."""
    options = parser().options(arguments)
    existing("--checkpoint", options.checkpoint, folder=True)
    one_of("--lesson", options.lesson, tuple(entry.name for entry in LESSONS))
    one_of("--language", options.language, LANGUAGES)
    out = Path(options.out)
    if not out.resolve().parent.is_dir():
        raise UsageError(f"--out is {options.out!r}, but must be in a folder that is there")
    if out.exists() and not options.force:
        raise UsageError(f"--out: {out} is there already; add --force to replace it, or name another file")
    replace_bytes(out, _picture(options) if options.scene else _handout(options, out))
    log.info("%s", out)
    return 0


def _handout(options: argparse.Namespace, out: Path) -> bytes:
    if out.suffix != ".html":
        raise UsageError(f"--out is {options.out!r}, but a handout is an .html; name a --scene for a picture")
    from viz_app.services.handout import handout

    return handout(options.lesson, _context(options))


def _picture(options: argparse.Namespace) -> bytes:
    from viz_app.figures import export, formats_of
    from viz_app.lessons import lesson
    from viz_app.services.lesson_figures import told_figure
    from viz_app.services.lessons import module_of

    one_of("--scene", options.scene, tuple(scene.name for scene in lesson(options.lesson, options.language).scenes))
    format = format_of("--out", options.out)
    check_dpi(options, (format,))
    style = style_of(options)
    context = _context(options)
    prepare = getattr(module_of(options.lesson), "prepare", None)
    if prepare is not None:
        prepare(options.scene, context)
    drawn = told_figure(options.lesson, context)
    if drawn is None:
        raise UsageError(f"--scene: the scene {options.scene} has no picture for print")
    one_of("--out", format, formats_of(drawn))
    return export(drawn, format, style, dpi=options.dpi)


def _context(options: argparse.Namespace) -> Context:
    from transformer_core.translator import Translator
    from viz_app.components.lesson import LessonState, from_address
    from viz_app.services.gate import ModelGate
    from viz_app.services.lesson_figures import fitting
    from viz_app.services.lessons.context import Context
    from viz_app.services.translation import TranslationService
    from viz_app.text import texts

    service = TranslationService(Translator.load(options.checkpoint, device="cpu"), ModelGate(1))
    text = fitting(options.text or "", service.translator)
    if options.text and text != " ".join(options.text.split()):
        raise UsageError(f"--text is {options.text!r}, but must be an English sentence that the model can read")
    state = LessonState(options.scene or "", from_address(getattr(options, "with") or ""))
    return Context(text, state, texts(options.language), lambda: service, SESSION)
