r"""Write the explorer of some sentences, a translator, or a lesson, as one HTML file without Python or network.

The explorer shows every head of each sentence, with its search, the cards of the heads and comparisons. With
--heads-off each head can also be switched off, which takes half a minute or more for each sentence. With --live the
page runs the model itself, for any sentence. A lesson has all scenes but those that measure or train; printed, it is a
handout with the answers on the last page. --lesson session writes a sheet for the whole route: for the class every
stop, with --sheet brief two pages, with --sheet teacher notes, minutes and answers.

The file works from a disk, in a learning platform or beside a paper. It holds its command, the hash of the model and
all licences.

Example:
  python -m viz_app page --checkpoint checkpoints/en-de --text "A man rides a bicycle." \
      --out page.html

  python -m viz_app page --checkpoint checkpoints/en-fr-small --live --out headlight.html

  python -m viz_app page --checkpoint checkpoints/en-de --lesson positions --out waves.html

  python -m viz_app page --checkpoint checkpoints/en-de --lesson session --sheet teacher --language ko --out sheet.html
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from transformer_core.cli.argument_types import bounded_number
from transformer_core.cli.arguments import Options, Parser, UsageError, counted, sentence_text
from transformer_core.storage.files import atomic_write_bytes
from viz_app.cli.service import load_service
from viz_app.figures.option import flag
from viz_app.lessons.catalogue import LESSONS
from viz_app.lessons.session_sheets import SHEETS
from viz_app.text import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from viz_app.serving.input_validation import Sentence
    from viz_app.serving.models.translation_service import TranslationService

log = logging.getLogger(__name__)

SESSION = "session"  # instead of a lesson: all stops of the route


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    parser.set_usage("--checkpoint DIR (--text TEXT ... | --texts FILE | --live | --lesson NAME) --out FILE ...")
    parser.add_checkpoint()
    about = "A sentence; may be given again."
    parser.add_argument("--text", type=sentence_text, action="append", metavar="TEXT", help=about)
    parser.add_path("--texts", "More sentences, one per line.")
    parser.add_argument(
        "--branches", type=bounded_number(1, 1000), metavar="N", help="Of each search, the best first; 4."
    )
    live = "A page that runs the translator itself, for any sentence."
    parser.add_argument("--live", type=bool, nargs="?", const=True, metavar="true|false", help=live)
    off = "Translate each sentence without each head."
    parser.add_argument("--heads-off", type=bool, nargs="?", const=True, metavar="true|false", help=off)
    lessons = [*(entry.name for entry in LESSONS), SESSION]
    parser.add_choice("--lesson", lessons, f"A lesson instead, or {SESSION} for a sheet of all.", form="NAME")
    parser.add_choice("--sheet", SHEETS, "The sheet of the session. (default: class)", form="NAME")
    parser.add_choice("--language", LANGUAGES, "Language of the page.", default="en", form="CODE")
    parser.add_output("The page to write, ending with .html.", ".html")


def run(options: Options) -> int:
    """Write the page."""
    from transformer_core.model_export.refusals import ExportError
    from viz_app.standalone.document import PageTooLarge

    write = _live if options.live else _explorer if options.lesson is None else _lesson
    _check_options(options)
    service = load_service(options.checkpoint)
    try:
        page = write(options, service)
    except PageTooLarge as error:
        fewer = "" if options.live else "; use shorter or fewer sentences, or fewer --branches"
        raise UsageError(f"{error}{fewer}") from error
    except ExportError as error:
        raise UsageError(f"--live: {error}") from error
    atomic_write_bytes(options.out, page)
    log.info("%s: %.2f MB", options.out, len(page) / 1e6)
    return 0


def _check_options(options: Options) -> None:
    page = "--live" if options.live else "--lesson" if options.lesson is not None else ""
    if options.live and options.lesson is not None:
        raise UsageError("--lesson is a page of its own; omit it with --live")
    if options.sheet and options.lesson != SESSION:
        raise UsageError(f"--sheet is only for --lesson {SESSION}")
    for name in ("texts", "branches", "heads_off", *(("text",) if options.live else ())):
        if page and getattr(options, name) is not None:
            raise UsageError(f"{flag(name)} is for a page of sentences; omit it with {page}")
    if page and len(options.text or ()) > 1:
        raise UsageError("--text: a lesson has one sentence")


def _live(options: Options, service: TranslationService) -> bytes:
    from viz_app.standalone.live import live_document

    return live_document(service, options.language)


def _lesson(options: Options, service: TranslationService) -> bytes:
    from viz_app.lessons.context import LessonContext, fit_sentence
    from viz_app.lessons.stage.state import LessonState
    from viz_app.standalone.lessons import render_lesson
    from viz_app.standalone.paper import render_sheet

    sentence = options.text[0] if options.text else ""
    text = fit_sentence(sentence, service)
    if sentence and text != " ".join(sentence.split()):
        raise UsageError(f"--text is {sentence!r}, but must be a sentence that the model can read")
    context = LessonContext(text, LessonState(), options.language, lambda: service, "command")
    if options.lesson == SESSION:
        return render_sheet(options.sheet or "class", context)
    return render_lesson(options.lesson, context)


def _explorer(options: Options, service: TranslationService) -> bytes:
    from viz_app.standalone.sentences import BRANCHES, map_bytes, render_sentences

    sentences, branches = list(_sentences(options, service)), options.branches or BRANCHES
    size = 0.5 + 0.2 * len(sentences) + 0.7e-6 * map_bytes(service, sentences, branches)
    log.info("%s, about %.1f MB", counted(len(sentences), "sentence"), size)
    return render_sentences(service, sentences, options.language, branches=branches, heads_off=bool(options.heads_off))


def _given(options: Options) -> Iterator[tuple[str, str]]:
    """Yield the given texts, each with its origin for an error. Raises UsageError for a line that is no text."""
    from viz_app.cli.sentence_lines import EMPTY, read_lines

    yield from (("--text", text) for text in options.text or ())
    for line in read_lines(Path(options.texts)) if options.texts else ():
        if line.problem not in ("", EMPTY):
            raise UsageError(f"--texts: line {line.number} {line.problem}")
        if not line.problem:
            yield f"--texts, line {line.number}", line.text


def _sentences(options: Options, service: TranslationService) -> Iterator[Sentence]:
    """Yield the sentences, each once. Raises UsageError for one that the model cannot translate, and for too many."""
    from viz_app.standalone.sentences import MAX_SENTENCES

    sentences: dict[str, Sentence] = {}
    for option, text in _given(options):
        try:
            sentence = service.validate(text)
        except ValueError as error:
            raise UsageError(f"{option}: {error}") from error
        if sentence.status == "long":
            raise UsageError(f"{option}: {sentence.tokens} tokens, but the limit is {sentence.limit}")
        if sentence.status != "good":
            raise UsageError(f"{option}: no sentence that this model reads")
        sentences[sentence.text] = sentence
        if len(sentences) > MAX_SENTENCES:
            raise UsageError(f"a page holds at most {MAX_SENTENCES} sentences")
    if not sentences:
        raise UsageError("missing: --text (a sentence), or --texts (a file with one sentence per line)")
    yield from sentences.values()
