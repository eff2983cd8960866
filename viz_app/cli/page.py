"""Write the explorer of some sentences, or a lesson, as one HTML file that needs neither Python nor network.

The explorer shows every head of each sentence, with its search, the cards of the heads and comparisons. With
--heads-off each head can also be switched off, which takes half a minute or more for each sentence. A lesson has all
scenes but those that measure or train.

The file works from a disk, in a learning platform or beside a paper. It holds its command, the hash of the model and
all licences.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from transformer_core.cli.argument_types import bounded_number
from transformer_core.cli.arguments import Options, Parser, UsageError, counted
from transformer_core.storage.files import atomic_write_bytes
from viz_app.cli.lesson import lesson_context, load_service
from viz_app.export.figure_arguments import validate_text
from viz_app.figures.option import flag
from viz_app.lessons.catalogue import LESSONS
from viz_app.text import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from viz_app.serving.input_validation import Sentence
    from viz_app.serving.models.translation_service import TranslationService

log = logging.getLogger(__name__)


def parser() -> Parser:
    """Return the options of this command."""
    result = Parser(
        "page",
        package="viz_app",
        usage="--checkpoint DIR (--text TEXT ... | --texts FILE | --lesson NAME) --out FILE ...",
        description=__doc__,
        example=(
            '  python -m viz_app page --checkpoint checkpoints/en-de --text "A man rides a bicycle." \\\n'
            "      --out page.html\n\n"
            "  python -m viz_app page --checkpoint checkpoints/en-de --lesson positions --out waves.html"
        ),
    )
    result.add_checkpoint()
    result.add_argument("--text", action="append", metavar="TEXT", help="A sentence; may be given again.")
    result.add_path("--texts", "More sentences, one per line.")
    result.add_argument(
        "--branches", type=bounded_number(1, 1000), metavar="N", help="Of each search, the best first; 4."
    )
    off = "Translate each sentence without each head."
    result.add_argument("--heads-off", type=bool, nargs="?", const=True, metavar="true|false", help=off)
    result.add_choice("--lesson", [entry.name for entry in LESSONS], "A lesson instead.", form="NAME")
    result.add_choice("--language", LANGUAGES, "Language of the page.", default="en", form="CODE")
    result.add_output("The page to write, ending with .html.", ".html")
    return result


def run(options: Options) -> int:
    """Write the page."""
    from viz_app.standalone.document import PageTooLarge

    if options.lesson is not None:
        _check_lesson(options)
    service = load_service(options.checkpoint)
    try:
        page = _lesson(options, service) if options.lesson is not None else _explorer(options, service)
    except PageTooLarge as error:
        raise UsageError(f"{error}; use shorter or fewer sentences, or fewer --branches") from error
    atomic_write_bytes(options.out, page)
    log.info("%s: %.2f MB", options.out, len(page) / 1e6)
    return 0


def _check_lesson(options: Options) -> None:
    for name in ("texts", "branches", "heads_off"):
        if getattr(options, name) is not None:
            raise UsageError(f"{flag(name)} is for a page of sentences; omit it with --lesson")
    if len(options.text or ()) > 1:
        raise UsageError("--text: a lesson has one sentence")


def _lesson(options: Options, service: TranslationService) -> bytes:
    from viz_app.lessons.stage.state import LessonState
    from viz_app.standalone.lessons import render_lesson

    given = validate_text("--text", options.text[0]) if options.text else None
    context = lesson_context(service, given, options.language, LessonState())
    return render_lesson(options.lesson, context)


def _explorer(options: Options, service: TranslationService) -> bytes:
    from viz_app.standalone.sentences import BRANCHES, map_bytes, render_sentences

    sentences, branches = list(_sentences(options, service)), options.branches or BRANCHES
    size = 0.4 + 0.7e-6 * map_bytes(service, sentences, branches)
    log.info("%s, about %.1f MB", counted(len(sentences), "sentence"), size)
    return render_sentences(service, sentences, options.language, branches=branches, heads_off=bool(options.heads_off))


def _given(options: Options) -> Iterator[tuple[str, str]]:
    """Yield the given texts, each with its origin for an error. Raises UsageError for a line that is no text."""
    from viz_app.cli.batch import EMPTY, read_lines

    yield from (("--text", validate_text("--text", text)) for text in options.text or ())
    for line in read_lines(Path(options.texts)) if options.texts else ():
        if line.problem not in ("", EMPTY):
            raise UsageError(f"--texts: line {line.number} {line.problem}")
        if not line.problem:
            yield f"--texts, line {line.number}", line.text


def _sentences(options: Options, service: TranslationService) -> Iterator[Sentence]:
    """Yield the sentences, each once. Raises UsageError for one that the model cannot translate, and for too many."""
    from viz_app.standalone.sentences import MAX_SENTENCES

    found: dict[str, Sentence] = {}
    for option, text in _given(options):
        try:
            sentence = service.validate(text)
        except ValueError as error:
            raise UsageError(f"{option}: {error}") from error
        if sentence.status == "long":
            raise UsageError(f"{option}: {sentence.tokens} tokens, but the limit is {sentence.limit}")
        if sentence.status != "good":
            raise UsageError(f"{option}: no sentence that this model reads")
        found[sentence.text] = sentence
        if len(found) > MAX_SENTENCES:
            raise UsageError(f"a page holds at most {MAX_SENTENCES} sentences")
    if not found:
        raise UsageError("missing: --text (a sentence), or --texts (a file with one sentence per line)")
    yield from found.values()
